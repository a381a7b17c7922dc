// Reads what the service found out about the identity provider, without opening the installation: the list of outgoing connections is
// shown even where there is no data directory.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type ProviderMetadata, storedMetadataOf } from "../../domain/sso/service.ts";
import type { Config } from "../../platform/config/config.ts";
import { placesIn } from "../../platform/data-directory/data-directory.ts";
import { openReadOnlyDatabase } from "../../platform/database/database.ts";
import { programSchema, schemaIn } from "../../platform/database/schema/schema.ts";
import { openReadable } from "../doctor/readable-database.ts";

/** @returns undefined if nothing is known, or the database cannot be read by this user or program */
export function storedMetadata(config: Config, issuer: string): ProviderMetadata | undefined {
  const directory = placesIn(resolve(config.get("data_dir")));
  if (!existsSync(directory.database)) return undefined;
  try {
    using readable = openReadable(directory);
    const { database } = readable.directory;
    if (schemaIn(database, { untouched: true }) !== programSchema()) return undefined;
    const db = openReadOnlyDatabase(database);
    try {
      return storedMetadataOf(db.read, issuer);
    } finally {
      void db.close();
    }
  } catch {
    return undefined; // the origin of the issuer is known without it
  }
}
