// Setup of the torture parts: one data directory that outlives the service, the service as a real process that is restarted on it
// at the same address, and signed-in workstations.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExistingInstallation } from "../../src/app/installation/installation.ts";
import { ACCESS_TOKEN_TTL_SECONDS } from "../../src/platform/config/settings/access.ts";
import { logIn, openBeside, temporaryDirectory } from "../bench/tools/installation.ts";
import { OPTIMIZED } from "../support/cli/executable.ts";
import { type RunningService, startService } from "../support/running-service.ts";

export const EMAIL = "admin@example.com";
export const PASSWORD = "correct horse battery";
export const SCIM_TOKEN = "a-token-of-the-identity-provider-in-the-configuration";

/** All callers have one address, and an attempt that was killed stays counted. */
export const UNLIMITED = [
  ...[
    "password-guesses-per-account",
    "password-guesses-per-address",
    "device-codes-per-address",
    "pending-logins-per-address",
    "pending-logins-per-network",
  ].flatMap((name) => [`--limits-${name}`, "100000"]),
  ...["requests-per-second", "requests-burst"].flatMap((name) => [`--scim-${name}`, "10000"]),
];

/** The tokens of a workstation after its device login; all of them belong to the administrator. */
export interface Workstation {
  at: number;
  accessToken: string;
  refreshToken: string;
}

export interface Site extends Disposable {
  /** data directory */
  data: string;
  database: string;
  port: number;
  baseUrl: string;
  workstations: Workstation[];
  /** flags of a service on this directory, at its address */
  args: readonly string[];
  start(): Promise<RunningService>;
}

export interface SiteOptions {
  workstations: number;
  /** runs on the new installation */
  prepare?: (installation: ExistingInstallation, origin: string) => Promise<unknown>;
  /** flags of the service in addition to those that every part needs */
  flags?: readonly string[];
}

/** Creates an installation with workstations; no service runs on it. */
export async function createSite(options: SiteOptions): Promise<Site> {
  const directory = temporaryDirectory();
  const data = join(directory.path, "data");
  const args = ["--data-dir", data, ...secretFiles(directory.path), ...(options.flags ?? [])];
  const first = await startService({ args });
  await stop(first);
  const port = Number(new URL(first.baseUrl).port);
  const workstations = await enrol(data, { ...options, port });
  const flags = [...args, ...UNLIMITED, "--server-listen", `127.0.0.1:${port}`];
  return {
    data,
    database: join(data, "quartermaster.db"),
    port,
    baseUrl: first.baseUrl,
    workstations,
    args: flags,
    start: () => startService({ args: flags, env: OPTIMIZED }),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

/** @returns the flags that name the files of the secrets */
export function secretFiles(directory: string): string[] {
  const files = { "bootstrap-admin-password": PASSWORD, "scim-token": SCIM_TOKEN };
  return Object.entries(files).flatMap(([name, secret]) => {
    const path = join(directory, name);
    writeFileSync(path, secret, { mode: 0o600 });
    return [`--${name}-file`, path];
  });
}

async function enrol(
  data: string,
  { port, workstations, prepare }: SiteOptions & { port: number },
): Promise<Workstation[]> {
  const lifetime = { accessAccessTokenTtlSeconds: String(ACCESS_TOKEN_TTL_SECONDS.max) };
  const installation = await openBeside(data, port, lifetime);
  try {
    await prepare?.(installation, `http://127.0.0.1:${port}`);
    const responses = await logIn(installation, workstations);
    return responses.map(({ access_token: accessToken, refresh_token: refreshToken = "" }, at) => ({
      at,
      accessToken,
      refreshToken,
    }));
  } finally {
    await installation.close();
  }
}

/** Sends SIGTERM. @throws if the service does not end cleanly */
export async function stop(service: RunningService): Promise<void> {
  service.signal("SIGTERM");
  const code = await service.ended();
  if (code !== 0) throw new Error(`ended with ${code}: ${service.stderr()}`);
}

/** @returns lines of the log that report a failure */
export const errorsIn = ({ stderr }: RunningService): string[] =>
  stderr()
    .split("\n")
    .filter((line) => / (?:ERROR|CRITICAL) /.test(line));
