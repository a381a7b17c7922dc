// Seeds the catalog at a start and a reload, from its own file or from the section of the configuration file.
import type { Seeded, SeedRequest } from "../../../domain/catalog/service.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { ConfigFile } from "../../../platform/config/file.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Log } from "../../../platform/observe/log.ts";
import { parseCatalogFile, readCatalogFile } from "../../files/catalog-file.ts";
import type { Installation } from "../../installation/installation.ts";
import type { Reloading } from "./settings-reload.ts";

interface Seeding {
  config: Config;
  /** the configuration file; undefined if there is none */
  file: ConfigFile | undefined;
  actor: Actor;
  log: Log;
}

/** Uses the catalog's own file, or else the section of the configuration file. */
export async function seedFromFile(
  { domain }: Installation,
  { config, file, actor, log }: Seeding,
): Promise<Seeded | undefined> {
  const catalog = await readCatalog(config, file);
  if (catalog === undefined) return undefined;
  const seeded = await domain.catalog.seed.apply(actor, { ...catalog, prune: false });
  for (const warning of seeded.warnings) log.warning("catalog.warning", { ...warning });
  return seeded;
}

/**
 * @returns the content for `catalog.seed`; undefined if the configuration has no catalog
 * @throws DomainError `file.*`
 */
export async function readCatalog(
  config: Pick<Config, "get">,
  file: ConfigFile | undefined,
): Promise<Pick<SeedRequest, "bytes" | "fileName" | "files"> | undefined> {
  const path = config.get("catalog.file");
  if (path !== undefined) return await readCatalogFile(path);
  return file?.hasCatalog ? parseCatalogFile(file.path, file.bytes) : undefined;
}

/** Seeds the catalog again. A failure is logged and changes nothing. */
export async function reloadCatalog(
  installation: Installation,
  { config, actor, log, reading }: Reloading & { actor: Actor },
): Promise<void> {
  try {
    const isOwn = config.has("catalog.file");
    const file = isOwn ? undefined : config.fileIn(await reading);
    const plan = await seedFromFile(installation, { config, file, actor, log });
    if (!plan) return log.info("catalog.no_file");
    const { added, changed, unchanged } = plan;
    log.info("catalog.reloaded", { added: added.length, changed: changed.length, unchanged });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    log.error("catalog.rejected", { reason: error.reason, message: error.message });
    for (const problem of error.problems) log.error("catalog.problem", { ...problem });
  }
}
