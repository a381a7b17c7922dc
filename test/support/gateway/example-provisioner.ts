// The example executable of test/provisioner, pinned and ready to run, with the folder that is its gateway and with functions that
// change that gateway without the provisioner.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createExecutableProvisioner } from "../../../src/domain/gateway/provisioners/executable/executable.ts";
import type { Provisioner } from "../../../src/domain/gateway/provisioners/provisioner.ts";
import type { ProvisionerSettings } from "../../../src/domain/gateway/settings.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";
import { PinnedExecutable } from "../../../src/platform/programs/pinned-executable.ts";
import type { Upstream } from "../../contracts/provisioner-suite.ts";
import { temporaryDirectory } from "../world.ts";
import { BUILTIN_SETTINGS } from "./builtin-provisioner.ts";

const EXAMPLE = join(import.meta.dir, "../../provisioner/provisioner.mjs");

export interface ExampleUpstream extends Upstream {
  /** The fault from now on, such as `after:die`; see the README of the example. */
  trouble(what: string | undefined): void;
}

export interface ExampleProvisioner extends AsyncDisposable {
  provisioner: Provisioner;
  upstream: ExampleUpstream;
  settings: ProvisionerSettings;
  executable: PinnedExecutable;
  directory: string;
}

/** @returns settings of an executable, pinned to its current content */
export const executableSettings = (
  path: string,
  environment: Readonly<Record<string, string>> = {},
): ProvisionerSettings => ({
  ...BUILTIN_SETTINGS,
  type: "example",
  executable: { path, sha256: sha256OfFile(path), environment },
  policyRevision: "1",
  adminKey: undefined,
});

const sha256OfFile = (path: string): string => sha256Hex(readFileSync(path));

/**
 * Installs the example in a separate directory, so that a test may change the file.
 * @param environment variables in addition to those of the example
 */
export function installExample(environment: Readonly<Record<string, string>> = {}) {
  const directory = temporaryDirectory();
  const path = join(directory, "provisioner.mjs");
  copyFileSync(EXAMPLE, path);
  const gateway = join(directory, "gateway");
  for (const name of ["accounts", "keys"]) mkdirSync(join(gateway, name), { recursive: true });
  const settings = executableSettings(path, {
    PATH: process.env.PATH ?? "", // the path of Node on this machine
    PROVISIONER_DIRECTORY: gateway,
    ...environment,
  });
  return { directory, path, settings, upstream: upstreamIn(gateway) };
}

/** @returns the example as the service runs it: from a private copy, with a separate environment */
export async function createExampleProvisioner(
  environment: Readonly<Record<string, string>> = {},
): Promise<ExampleProvisioner> {
  const { directory, path, settings, upstream } = installExample(environment);
  const pin = { path, sha256: settings.executable?.sha256 ?? "" };
  const executable = new PinnedExecutable(pin, join(directory, "private"));
  return {
    provisioner: createExecutableProvisioner({
      settings,
      run: (invocation, signal) => executable.run(invocation, signal),
    }),
    upstream,
    settings,
    executable,
    directory,
    [Symbol.asyncDispose]: async () => rmSync(directory, { recursive: true, force: true }),
  };
}

function upstreamIn(gateway: string): ExampleUpstream {
  const keyFile = (name: string) => join(gateway, "keys", name);
  const read = (name: string) => JSON.parse(readFileSync(keyFile(name), "utf8"));
  return {
    keys: async () =>
      readdirSync(join(gateway, "keys"))
        .map(read)
        .map(({ external_id: externalId, email, alias }) => ({ externalId, email, alias })),
    addAccount: async (email) =>
      writeFileSync(join(gateway, "accounts", encodeURIComponent(email.toLowerCase())), ""),
    block: async (externalId) =>
      writeFileSync(keyFile(externalId), JSON.stringify({ ...read(externalId), blocked: true })),
    offer: async (models) => writeFileSync(join(gateway, "models.json"), JSON.stringify(models)),
    trouble: (what) => {
      if (what === undefined) rmSync(join(gateway, "trouble"), { force: true });
      else writeFileSync(join(gateway, "trouble"), what);
    },
  };
}
