// `doctor` with a sealing key that exists but cannot be read: wrong mode, wrong owner, or a systemd credential of another user.
// Each report names the cause and the remedy.
import { expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { isRoot, NOBODY } from "../support/cli/child.ts";
import { runCli } from "../support/cli/cli.ts";
import { productCommand } from "../support/cli/executable.ts";
import { giveAway } from "../support/give-away.ts";
import { createInstallation, type Workspace } from "../support/in-process.ts";

interface Finding {
  check: string;
  result: string;
  detail: string;
  remedy: string | null;
}

async function diagnosed({
  data,
}: Workspace): Promise<{ exitCode: number; of(check: string): Finding | undefined }> {
  const { stdout, exitCode } = await runCli(["doctor", "--json", "--data-dir", data]);
  const { checks }: { checks: Finding[] } = JSON.parse(stdout);
  return { exitCode, of: (name) => checks.find(({ check }) => check === name) };
}

const FAULTS: Readonly<Record<string, [spoil: (place: string) => void, name: string, permissions: string]>> =
  {
    "a key file that its owner cannot read": [
      (place) => chmodSync(place, 0),
      "keys/0001.sealing-key",
      "mode 0000, of user id <owner>",
    ],
    "a keys folder that its owner cannot enter": [
      (place) => chmodSync(place, 0),
      "keys",
      "mode 0000, of user id <owner>",
    ],
    ...(isRoot && {
      "a key file of another owner": [
        (place: string) => chownSync(place, 0, 0),
        "keys/0001.sealing-key",
        "mode 0600, of user id 0",
      ],
    }),
  };

test.each(Object.entries(FAULTS))("reports %s with its mode, owner and remedy", async (_, fault) => {
  const [spoil, name, permissions] = fault;
  using workspace = await createInstallation();
  if (isRoot) giveAway(workspace); // root can read every file
  const { uid } = statSync(workspace.data);
  const place = join(workspace.data, name);
  spoil(place);
  const { exitCode, of } = await diagnosed(workspace);
  if (!isRoot) chmodSync(place, 0o700);
  const named = `${place} (${permissions.replace("<owner>", String(uid))})`;
  const all = `as root: chown -R ${uid} '${workspace.data}' && chmod -R u+rwX,go= '${workspace.data}'`;
  expect(of("files")).toMatchObject({
    result: "failed",
    detail: expect.stringContaining(named),
    remedy: all,
  });
  expect(of("database")).toMatchObject({
    result: "failed",
    detail: expect.stringContaining(`${named} cannot be `),
    remedy: name === "keys" ? all : `as root: chown ${uid} '${place}' && chmod 600 '${place}'`,
  });
  expect(exitCode).toBe(7);
});

test("names an unreadable systemd credential, and the user who can run the command", async () => {
  using workspace = await createInstallation();
  const credentials = join(workspace.folder, "credentials");
  mkdirSync(credentials);
  renameSync(join(workspace.data, "keys/0001.sealing-key"), join(credentials, "sealing-key"));
  chmodSync(join(credentials, "sealing-key"), isRoot ? 0o400 : 0);
  if (isRoot) giveAway(workspace);
  const asOwner = isRoot ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
  const { exitCode, stderr } = await runCli(["doctor", "--data-dir", workspace.data], {
    command: [...asOwner, ...productCommand()],
    env: { CREDENTIALS_DIRECTORY: credentials, PATH: process.env.PATH ?? "" },
  });
  const file = join(credentials, "sealing-key");
  expect(stderr).toContain(
    `${file} cannot be read by this user (EACCES); run the command as root, or as the user of the service`,
  );
  expect(exitCode).toBe(2);
});
