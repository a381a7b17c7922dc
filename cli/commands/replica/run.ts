// `replica reset`: empties the log of SQLite, so that Litestream makes a complete copy at its next start.
import { resolve } from "node:path";
import { isReplicaDoubtful, resetReplica } from "../../../src/app/standby/replica/reset.ts";
import { openExistingDirectory, placesIn } from "../../../src/platform/data-directory/data-directory.ts";
import { fileExists } from "../../../src/platform/data-directory/owner.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { SettingsCall } from "../../data-directory/in-domain.ts";

/** @throws DomainError `standby.no_database`, `standby.replica_in_use`, `data_dir.*`, `storage.*` */
export async function reset({ config, output, has }: SettingsCall): Promise<void> {
  const path = resolve(config.get("data_dir"));
  if (!fileExists(placesIn(path).database)) {
    if (!has("ifDoubtful")) throw noDatabase(path);
    output.result({ reset: false }, NOTHING);
    return;
  }
  const directory = openExistingDirectory(path);
  const isDue = !has("ifDoubtful") || isReplicaDoubtful(directory);
  if (isDue) resetReplica(directory);
  output.result({ reset: isDue }, isDue ? DONE : NOT_DUE);
  if (isDue && !config.has("standby.replica") && !config.get("database.replicated")) output.warning(UNSET);
}

const DONE = "Litestream will make a complete copy of the database when it starts";
/** The reset is harmless without a replica, and valid if only the settings of this command lack it. */
const UNSET =
  "no replica is set here: neither standby.replica nor database.replicated; pass the configuration file of the service with --config";
const NOT_DUE = "unchanged: the service was not killed, and no test restore of the replica has failed";
const NOTHING = "unchanged: there is no database yet";

const noDatabase = (path: string): DomainError =>
  new DomainError("not_found", "standby.no_database", `${path} has no database`, {
    hint: "name the right directory with --data-dir",
  });
