// What a running service says of itself to the commands that work beside it: run/service.json in the data directory, there
// from the start to a clean stop. The file of a killed service is recognized by the lock, which nobody holds then.
import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { readOwnFile, writeWholeFile } from "../own-files.ts";
import { type DataDirectory, findServer } from "./data-directory.ts";

const ServiceStateSchema = Type.Object({
  process_id: Type.Integer({ minimum: 1 }),
  /** RFC 3339 */
  started_at: Type.String(),
  version: Type.String(),
  /** under which people and workstations reach the service */
  origin: Type.String({ minLength: 1 }),
  /** where it listens, as an origin or `unix:/path` */
  address: Type.String(),
  /** the settings in force by name, as `config show` prints them; secrets are left out */
  settings: Type.Record(Type.String(), Type.String()),
});

export type ServiceState = Static<typeof ServiceStateSchema>;

/** Replaces what was said before, for the owner alone. Call it under the server's lock. */
export function writeServiceState({ service }: DataDirectory, state: ServiceState): void {
  mkdirSync(dirname(service), { recursive: true, mode: 0o700 });
  writeWholeFile(service, `${JSON.stringify(state, undefined, 2)}\n`);
}

/** Removes what this service, or a killed one before it, has said. Call it under the server's lock. */
export const forgetServiceState = ({ service }: DataDirectory): void => rmSync(service, { force: true });

/**
 * @returns what the running service says; undefined where none runs, or it has not said anything yet
 * @throws DomainError `storage.*`
 */
export function findServiceState(directory: DataDirectory): ServiceState | undefined {
  const state = readState(directory);
  const server = state && findServer(directory);
  const isCurrent = server === "unknown" || server?.processId === state?.process_id;
  return server && isCurrent ? state : undefined;
}

function readState({ service }: DataDirectory): ServiceState | undefined {
  try {
    const found: unknown = JSON.parse(readOwnFile(service).text);
    return Value.Check(ServiceStateSchema, found) ? found : undefined;
  } catch {
    return undefined; // not there, or of another version: the command then asks for the setting
  }
}
