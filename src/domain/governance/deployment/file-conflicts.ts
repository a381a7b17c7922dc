// Resolves the places where the policy differs from the deployment file, by keeping the policy's value or taking the file's.
// Administrators take a value into their draft (drafts.ts); an operator publishes it.
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { DomainError } from "../../../platform/errors.ts";
import { quoted } from "../../../platform/text/problem-list.ts";
import type { Actor } from "../../shared/actor.ts";
import { carryOverAudiences } from "../delivery/audiences.ts";
import { refuseProblems } from "../errors.ts";
import type { GovernanceParts } from "../parts.ts";
import { diffRevisions } from "../publishing/diff.ts";
import type { DocumentPlan } from "../publishing/documents.ts";
import { parseInTurn } from "../publishing/validated.ts";
import * as store from "../store.ts";
import type { FileConflict, FoundConflicts, ShownConflicts } from "./file-values.ts";

/** The places that differ. */
export interface FileConflicts {
  /** changes as soon as a value or a place changes */
  version: string;
  /** number of places */
  total: number;
  conflicts: readonly FileConflict[];
}

const NONE: FoundConflicts = { version: "", total: 0, conflicts: "[]" };

const NEEDS_ANOTHER_PLACE =
  "a value of the file may depend on another one, such as its package; take that one first";

export interface KeptPlaces {
  /** the version that the author has read */
  version: string;
  paths: readonly string[];
}

export class FileConflictSettling {
  constructor(private readonly parts: GovernanceParts) {}

  /** @returns all places with both values */
  async list(organizationId: string): Promise<FileConflicts> {
    const { found } = await this.#read(organizationId);
    await setImmediate(); // lets other requests run before thousands of conflicts are read
    return { ...found, conflicts: JSON.parse(found.conflicts) };
  }

  /**
   * @param request.limit maximum number of conflicts
   * @param request.isHidden whether to hide secrets
   * @returns the first places with texts of both values
   */
  async shown(
    organizationId: string,
    request: { limit: number; isHidden: boolean },
  ): Promise<ShownConflicts> {
    const { sides } = await this.#sides(organizationId);
    if (!sides) return { ...NONE, conflicts: [], hasSecrets: false };
    return await this.parts.runTask("shownConflicts", { ...sides, ...request });
  }

  /** @returns the named places @throws DomainError `policy_conflict.none` if one of the paths has no conflict */
  async show(organizationId: string, paths: readonly string[]): Promise<FileConflicts> {
    deploymentWith(store.findDeployment(this.parts.db.read, organizationId), paths);
    const { conflicts, ...found } = await this.list(organizationId);
    const wanted = new Set(paths);
    return { ...found, conflicts: conflicts.filter(({ path }) => wanted.has(path)) };
  }

  /** @param version that the author has read @throws DomainError `policy_conflict.changed` */
  async assertRead({ organizationId }: Actor, version: string): Promise<void> {
    if ((await this.#read(organizationId)).found.version !== version) throw changed();
  }

  /**
   * Keeps the policy's values: these places are no longer conflicts until the file changes there.
   * @throws DomainError `policy_conflict.changed`, `policy_conflict.none`
   */
  async keep(actor: Actor, { version, paths }: KeptPlaces): Promise<void> {
    const { audit, db } = this.parts;
    const { organizationId } = actor;
    const read = await this.#read(organizationId);
    if (read.found.version !== version) throw changed();
    const { deployment, revision } = read;
    const { conflicts: known } = deploymentWith(deployment, paths);
    const kept = new Set(paths);
    const conflicts = known.filter((path) => !kept.has(path));
    await db.writeInSteps(function* (tx) {
      const now = store.findDeployment(tx, organizationId);
      if (!now || store.newestId(tx, organizationId) !== revision || !isDeepStrictEqual(now, deployment))
        throw changed();
      store.putDeployment(tx, { ...now, conflicts });
      for (const path of kept) {
        audit.record(tx, { actor, action: "policy_conflict.keep", target: path });
        yield;
      }
    }, "governance");
  }

  /**
   * @returns the policy with the values of the file at those places, to be published with `Documents.apply`
   * @throws DomainError `policy_conflict.none`, `governance.no_policy`, `governance.invalid`
   */
  async plan({ organizationId, kind }: Actor, paths: readonly string[]): Promise<DocumentPlan> {
    const { db, publisher, revisions, runTask } = this.parts;
    const base = revisions.inForce(organizationId);
    const { baseline: file } = deploymentWith(store.findDeployment(db.read, organizationId), paths);
    const frame = publisher.frame({ gateway: publisher.hasGateway({ kind }, base) });
    const request = { base: JSON.stringify(base.document), file, paths, frame };
    const validated = await runTask("takeFileValues", request);
    refuseProblems(validated.problems, { hint: NEEDS_ANOTHER_PLACE });
    const document = await parseInTurn(validated.document);
    const audiences = carryOverAudiences(base.audiences, document.packages);
    return { base, document, changes: diffRevisions(base, { document, audiences }), warnings: [] };
  }

  async #read(organizationId: string) {
    const { sides, ...read } = await this.#sides(organizationId);
    return { ...read, found: sides ? await this.parts.runTask("fileConflicts", sides) : NONE };
  }

  async #sides(organizationId: string) {
    const { db, revisions } = this.parts;
    const revision = revisions.current(organizationId);
    const deployment = store.findDeployment(db.read, organizationId);
    const paths = deployment?.conflicts ?? [];
    const read = { revision: revision?.id, deployment, sides: undefined };
    if (!deployment || !revision || paths.length === 0) return read;
    await setImmediate(); // lets other requests run before the policy is written for the thread
    const texts = { current: JSON.stringify(revision.document), file: deployment.baseline };
    return { ...read, sides: { ...texts, paths: JSON.stringify(paths) } };
  }
}

/** @returns the file as it was last read @throws DomainError `policy_conflict.none` if one of the paths is not a conflict */
export function deploymentWith(
  deployment: store.Deployment | undefined,
  paths: readonly string[],
): store.Deployment {
  const known = new Set(deployment?.conflicts);
  const other = paths.find((path) => !known.has(path));
  if (!deployment || other !== undefined) throw noConflict(other ?? "");
  return deployment;
}

const noConflict = (path: string) =>
  new DomainError(
    "not_found",
    "policy_conflict.none",
    `there is no open conflict with the configuration file at ${quoted(path)}`,
    {
      hint: "it may have been resolved; see `quartermaster policy conflicts list`",
    },
  );

const changed = () =>
  new DomainError(
    "conflict",
    "policy_conflict.changed",
    "the policy or the configuration file has changed since these values were read",
    { hint: "read them again; nothing was changed" },
  );
