// Reads facts from the database without opening the installation, for commands that also work where there is no data directory:
// the list of outgoing connections and the checks before a start.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { hasHadToken } from "../../domain/scim/service.ts";
import { type ProviderMetadata, storedMetadataOf } from "../../domain/sso/service.ts";
import type { Config } from "../../platform/config/config.ts";
import { placesIn } from "../../platform/data-directory/data-directory.ts";
import { type Connection, openReadOnlyDatabase } from "../../platform/database/database.ts";
import { programSchema, schemaIn } from "../../platform/database/schema/schema.ts";
import { openReadable } from "../doctor/readable-database.ts";

/** @returns what was found out about the provider; undefined if that is not known */
export const storedMetadata = (config: Config, issuer: string): ProviderMetadata | undefined =>
  readStored(config, { missing: undefined, ask: (connection) => storedMetadataOf(connection, issuer) });

/** @returns whether a SCIM token was ever created or configured; undefined if that is not known */
export const storedScimToken = (config: Config): boolean | undefined =>
  readStored(config, { missing: false, ask: hasHadToken });

/** @returns undefined if this user or program cannot read the database; `missing` if there is none */
function readStored<T>(
  config: Config,
  { missing, ask }: { missing: T | undefined; ask: (connection: Connection) => T | undefined },
): T | undefined {
  const directory = placesIn(resolve(config.get("data_dir")));
  try {
    if (!statSync(directory.database, { throwIfNoEntry: false })) return missing;
    using readable = openReadable(directory);
    const { database } = readable.directory;
    if (schemaIn(database, { untouched: true }) !== programSchema()) return undefined;
    const db = openReadOnlyDatabase(database);
    try {
      return ask(db.read);
    } finally {
      void db.close();
    }
  } catch {
    return undefined; // the caller continues without it
  }
}
