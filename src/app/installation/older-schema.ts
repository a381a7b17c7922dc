// Errors and remedies for a database whose schema is older than this program.
import { type DataDirectory, isServerRunning } from "../../platform/data-directory/data-directory.ts";
import { DomainError } from "../../platform/errors.ts";

const REPLACE_SERVICE = "stop the service, replace its executable, and start it again";

/** @returns the error for a command of a newer version than the running service */
export const olderServer = (directory: DataDirectory) =>
  new DomainError(
    "conflict",
    "data_dir.in_use",
    `an older version of the service runs on ${directory.path}, but this program has a newer schema`,
    { hint: REPLACE_SERVICE },
  );

/** @returns the error for a command that must not upgrade */
export const upgradeDue = (directory: DataDirectory) =>
  new DomainError(
    "conflict",
    "schema.older",
    "the database needs an upgrade, and this read-only command does not make it",
    { hint: `${upgradeRemedy(directory)}; then run this command again` },
  );

/** @returns the remedy for an older schema; both remedies copy the database first */
export const upgradeRemedy = (directory: DataDirectory): string =>
  isServerRunning(directory)
    ? `an older version of the service runs: ${REPLACE_SERVICE}`
    : "start the service, or run `quartermaster migrate up`";
