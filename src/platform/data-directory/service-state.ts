// Facts about the running service for commands on the same machine: run/service.json in the data directory, present from the
// start to a clean stop. A file that a killed service left is recognized by the free lock.
import { mkdirSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { diskFull } from "../database/storage-errors.ts";
import { isDiskFull } from "../errors.ts";
import { readOwnFile, writeWholeFile } from "../files/data-files.ts";
import { type DataDirectory, findServer } from "./data-directory.ts";

const ServiceStateSchema = Type.Object({
  process_id: Type.Integer({ minimum: 1 }),
  /** RFC 3339 */
  started_at: Type.String(),
  version: Type.String(),
  /** the origin for people and workstations */
  origin: Type.String({ minLength: 1 }),
  /** the listener, as an origin or `unix:/path` */
  address: Type.String(),
  /** the effective settings by name, as `config show` prints them, without secrets */
  settings: Type.Record(Type.String(), Type.String()),
});

export type ServiceState = Static<typeof ServiceStateSchema>;

/**
 * Replaces the file, readable by the owner only. Call it under the server's lock.
 * @throws DomainError `storage.full`
 */
export function writeServiceState({ service }: DataDirectory, state: ServiceState): void {
  try {
    mkdirSync(dirname(service), { recursive: true, mode: 0o700 });
    writeWholeFile(service, `${JSON.stringify(state, undefined, 2)}\n`);
  } catch (error) {
    throw isDiskFull(error) ? diskFull(error) : error;
  }
}

/** Removes the file of this service, or of one that was killed. Call it under the server's lock. */
export const forgetServiceState = ({ service }: DataDirectory): void => rmSync(service, { force: true });

/**
 * @returns the facts about the running service; undefined if none runs or it has not written them yet
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
    return undefined; // absent, or written by another version: the command then asks for the setting
  }
}
