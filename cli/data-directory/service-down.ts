// How `status` and `doctor` end where no service runs on the data directory: with 6 after their report (operator-experience.md
// section 1.1), unless `--offline-ok` says that this is meant.
import { DomainError } from "../../src/platform/errors.ts";
import type { CliCommand } from "../command.ts";

/** Adds `--offline-ok`. */
export const addOfflineOption = (command: CliCommand): CliCommand =>
  command.option("--offline-ok", "end with 0 also while the service is down");

/** @throws DomainError `service.down` (exit code 6) unless the command was given `--offline-ok` */
export function assertServiceRunning(command: CliCommand): void {
  const { offlineOk = false }: { offlineOk?: boolean } = command.opts();
  if (offlineOk) return;
  throw new DomainError("unavailable", "service.down", "no service runs on this data directory", {
    hint: "start it: systemctl start quartermaster, or quartermaster serve; --offline-ok where it is meant to be down",
  });
}
