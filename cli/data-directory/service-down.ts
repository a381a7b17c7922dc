// `status` and `doctor` exit with 6 after their report when no service runs on the data directory. `--offline-ok` makes them exit
// with 0.
import { DomainError } from "../../src/platform/errors.ts";
import type { CliCommand } from "../command.ts";

/** Adds `--offline-ok`. */
export const addOfflineOption = (command: CliCommand): CliCommand =>
  command.option("--offline-ok", "exit with 0 even if the service is not running");

/** @throws DomainError `service.down` (exit code 6) unless the command was given `--offline-ok` */
export function assertServiceRunning(command: CliCommand): void {
  const { offlineOk = false }: { offlineOk?: boolean } = command.opts();
  if (offlineOk) return;
  throw new DomainError("unavailable", "service.down", "no service runs on this data directory", {
    hint: "start it with `systemctl start quartermaster` or `quartermaster serve`, or pass --offline-ok if it is stopped on purpose",
  });
}
