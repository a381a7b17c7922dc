// Finds problems in the catalog and policy of the configuration that prevent a start, for `config check`. Reads the
// configuration like a start, and changes nothing.
import { readSeed, type SeedRequest } from "../../domain/catalog/service.ts";
import { artifactProblems, type DeploymentSection, readSection } from "../../domain/governance/service.ts";
import { BUILT_IN } from "../../domain/harnesses/harness-facts.ts";
import type { Config } from "../../platform/config/config.ts";
import { DomainError } from "../../platform/errors.ts";
import { SEMANTIC_VERSION } from "../../platform/version.ts";
import { runTaskHere } from "../documents/document-threads.ts";
import { sectionOf } from "../files/governance-file.ts";
import { readHarnessFacts } from "../files/harness-facts-file.ts";
import { type FindArchive, withStoredArchives } from "../installation/stored-facts.ts";
import { readCatalog } from "./configuration/catalog-seeding.ts";

/**
 * Compares archives of the catalog and the policy with the stored ones, if the database is readable.
 * @returns the errors of a start with this catalog and policy
 */
export const findContentProblems = (config: Config): Promise<DomainError[]> =>
  withStoredArchives(config, async (findArchive) => [
    ...(await found(() => checkCatalog(config, findArchive))).map((error) => inCatalogFile(error, config)),
    ...(await found(() => checkPolicy(config, findArchive))),
  ]);

async function found(check: () => Promise<void>): Promise<DomainError[]> {
  try {
    await check();
    return [];
  } catch (error) {
    if (error instanceof DomainError) return [error];
    throw error;
  }
}

/** The catalog may be in its own file. */
function inCatalogFile(error: DomainError, config: Config): DomainError {
  const file = config.get("catalog.file");
  if (file === undefined) return error;
  const problems = error.problems.map((problem) =>
    problem.line === undefined ? problem : { ...problem, file },
  );
  const { kind, reason, message, hint } = error;
  return new DomainError(kind, reason, message, { ...(hint && { hint }), problems, cause: error });
}

async function checkCatalog(config: Config, findArtifact: FindArchive | undefined): Promise<void> {
  const catalog: Omit<SeedRequest, "prune"> | undefined = await readCatalog(config, config.content);
  if (!catalog) return;
  const { bytes, fileName } = catalog;
  if (!findArtifact) await runTaskHere("readCatalog", { bytes, fileName });
  else await readSeed({ blobs: { has: async () => true }, findArtifact, runTask: runTaskHere }, catalog);
}

async function checkPolicy(config: Config, findArchive: FindArchive | undefined): Promise<void> {
  const section: DeploymentSection | undefined = sectionOf({
    config,
    file: config.content,
    runTask: runTaskHere,
  });
  if (!section) return;
  const { extension } = factsOf(config);
  const frame = {
    gateway: config.has("gateway.type"),
    serverVersion: SEMANTIC_VERSION,
    revision: "",
    extension,
  };
  const catalog = { findArtifact: (_organization: string, digest: string) => findArchive?.(digest) };
  await readSection(section, {
    frame,
    runTask: runTaskHere,
    findProblems: (references) => artifactProblems(catalog, "", findArchive ? references : []),
  });
}

/** An invalid harness file is reported separately. */
function factsOf(config: Config): Pick<ReturnType<typeof readHarnessFacts>, "extension"> {
  try {
    return readHarnessFacts(config);
  } catch (error) {
    if (error instanceof DomainError) return BUILT_IN;
    throw error;
  }
}
