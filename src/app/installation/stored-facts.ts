// Reads facts from the database without opening the installation, for commands that also work where there is no data directory:
// the list of outgoing connections and the checks before a start.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type ArtifactRow, findArtifactByDigest } from "../../domain/catalog/store.ts";
import { firstOrganization } from "../../domain/identity/store.ts";
import { hasHadToken } from "../../domain/scim/service.ts";
import { type ProviderMetadata, storedMetadataOf } from "../../domain/sso/service.ts";
import type { Config } from "../../platform/config/config.ts";
import { placesIn } from "../../platform/data-directory/data-directory.ts";
import { type Connection, openReadOnlyDatabase } from "../../platform/database/database.ts";
import { programSchema, schemaIn } from "../../platform/database/schema/schema.ts";
import { openReadable } from "../doctor/readable-database.ts";

/** @returns the stored metadata of the provider, if known */
export const storedMetadata = (config: Config, issuer: string): ProviderMetadata | undefined =>
  readStored(config, { missing: undefined, ask: (connection) => storedMetadataOf(connection, issuer) });

/** @returns whether a SCIM token was ever created or configured, if known */
export const storedScimToken = (config: Config): boolean | undefined =>
  readStored(config, { missing: false, ask: hasHadToken });

/** @returns the stored archive with that digest */
export type FindArchive = (digest: string) => ArtifactRow | undefined;

/**
 * Runs a function while the database is open.
 * @param use receives undefined if this user or program cannot read the database; without a database, nothing is stored
 */
export async function withStoredArchives<T>(
  config: Config,
  use: (find: FindArchive | undefined) => Promise<T>,
): Promise<T> {
  using stored = openStored(config);
  return await use(stored && findIn(stored.connection));
}

function findIn(connection: Connection | undefined): FindArchive {
  const organization = connection && firstOrganization(connection);
  return (digest) => organization && findArtifactByDigest(connection, organization.id, digest);
}

/** @returns undefined if this user or program cannot read the database; `missing` if there is none */
function readStored<T>(
  config: Config,
  { missing, ask }: { missing: T | undefined; ask: (connection: Connection) => T | undefined },
): T | undefined {
  using stored = openStored(config);
  if (!stored) return undefined;
  try {
    return stored.connection ? ask(stored.connection) : missing;
  } catch {
    return undefined; // the caller continues without it
  }
}

/** The database of the data directory, open for reading. */
interface Stored extends Disposable {
  /** undefined if there is no database */
  connection: Connection | undefined;
}

/** @returns undefined if this user or program cannot read the database */
function openStored(config: Config): Stored | undefined {
  using opened = new DisposableStack();
  try {
    const directory = placesIn(resolve(config.get("data_dir")));
    if (!statSync(directory.database, { throwIfNoEntry: false }))
      return { connection: undefined, [Symbol.dispose]: () => {} };
    const { database } = opened.use(openReadable(directory)).directory;
    if (schemaIn(database, { untouched: true }) !== programSchema()) return undefined;
    const db = openReadOnlyDatabase(database);
    opened.defer(() => void db.close());
    firstOrganization(db.read); // a damaged or locked file fails here
    const kept = opened.move();
    return { connection: db.read, [Symbol.dispose]: () => kept.dispose() };
  } catch {
    return undefined; // the caller continues without it
  }
}
