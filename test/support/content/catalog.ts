// Fills the catalog as an operator does.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { readCatalogFile } from "../../../src/app/files/catalog-file.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";
import type { TestServer } from "../server.ts";
import { tarGzOf } from "./tar.ts";

type Site = Pick<TestServer, "domain" | "world">;

/** Replaces the catalog. Sources are URLs, or files in the folder of the world. */
export async function seedCatalog({ domain, world }: Site, entries: readonly object[]): Promise<void> {
  const file = join(world.directory, "catalog.json");
  writeFileSync(file, JSON.stringify(entries));
  await domain.catalog.seed.apply(world.system, { ...(await readCatalogFile(file)), prune: true });
}

/** Writes an archive into the folder of the world. @returns the members of an entry that name it */
export function writeArchive(
  { world }: Pick<Site, "world">,
  name: string,
  pieces: readonly Uint8Array[],
): { source_ref: string; sha256: string } {
  const bytes = tarGzOf(...pieces);
  writeFileSync(join(world.directory, `${name}.tar.gz`), bytes);
  return { source_ref: `${name}.tar.gz`, sha256: sha256Hex(bytes) };
}
