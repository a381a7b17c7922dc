// Lets other processes change the database only while the service holds the lease: the service writes the end of the lease to
// run/lease.json in the data directory. Both read the clock of the same machine.
import { rmSync } from "node:fs";
import type { Config } from "../../../platform/config/config.ts";
import type { DataDirectory } from "../../../platform/data-directory/data-directory.ts";
import { DomainError } from "../../../platform/errors.ts";
import { readOwnFile, writeRunFile } from "../../../platform/files/data-files.ts";
import { LEASE_MS } from "./lease-times.ts";

type Place = Pick<DataDirectory, "lease">;

/** Needs no flush, because the lease has ended after a power failure. */
export const writeLeaseFile = ({ lease }: Place, untilMs: number): void =>
  writeRunFile(lease, `${JSON.stringify({ until_ms: untilMs })}\n`);

/** Makes other processes refuse changes. */
export const removeLeaseFile = ({ lease }: Place): void => rmSync(lease, { force: true });

/**
 * @returns a check for a process other than the service; undefined if the settings have no lease
 */
export const admissionByLeaseFile = (config: Config, directory: Place): (() => void) | undefined =>
  config.get("standby.lease")
    ? () => {
        if (!isLeaseHeldHere(directory)) throw notHere();
      }
    : undefined;

/** @returns whether the service on this data directory accepts changes now */
export function isLeaseHeldHere(directory: Place): boolean {
  const leftMs = untilMs(directory) - Date.now();
  return leftMs > 0 && leftMs <= LEASE_MS;
}

function untilMs({ lease }: Place): number {
  try {
    const found: unknown = JSON.parse(readOwnFile(lease).text);
    const isLease = typeof found === "object" && found !== null && "until_ms" in found;
    return isLease && typeof found.until_ms === "number" ? found.until_ms : 0;
  } catch {
    return 0; // no service has the lease
  }
}

const notHere = (): DomainError =>
  new DomainError(
    "unavailable",
    "standby.no_lease",
    "no service on this machine holds the lease, so nothing may be changed here",
    { hint: "run this on the active machine, or start the service; see: quartermaster help standby" },
  );
