// Packages that administrators add step by step: archive, name, layouts and audience; then the package goes into the draft. The
// steps so far survive the session, the browser and the service. An administrator adds one package at a time.
import { isDeepStrictEqual } from "node:util";
import { DAY_MS } from "../../../platform/clock.ts";
import { DomainError, invariant, type Problem } from "../../../platform/errors.ts";
import type { KeptArchives } from "../../catalog/service.ts";
import { checkPackages } from "../../catalog/service.ts";
import type { Harness } from "../../harnesses/harnesses.ts";
import type { Actor } from "../../shared/actor.ts";
import type { Draft, StatedVersion } from "../drafts/draft-model.ts";
import { removedVersion } from "../drafts/draft-store.ts";
import type { Drafts } from "../drafts/drafts.ts";
import { refuseProblems } from "../errors.ts";
import type { PackageAudience } from "../model.ts";
import type { GovernanceParts } from "../parts.ts";
import { unservedBy } from "../versions/coverage.ts";
import {
  ADDITION_DAYS_MAX,
  type Addition,
  type AdditionIdentity,
  type AdditionSource,
  audienceMark,
  completeAddition,
  packageOf,
} from "./addition-model.ts";
import * as store from "./addition-store.ts";

export interface AdditionsDependencies extends Pick<GovernanceParts, "db" | "clock" | "audit"> {
  drafts: Drafts;
  archives: Pick<KeptArchives, "missingPaths">;
  harnesses(): readonly Harness[];
}

export class PackageAdditions {
  constructor(private readonly dependencies: AdditionsDependencies) {}

  /** @returns the administrator's addition; undefined for none */
  find({ id }: Pick<Actor, "id">): Addition | undefined {
    return id === null ? undefined : store.findAddition(this.dependencies.db.read, id);
  }

  /** @throws DomainError `package_addition.none` */
  get(actor: Pick<Actor, "id">): Addition {
    const addition = this.find(actor);
    if (!addition) throw noAddition();
    return addition;
  }

  /** Starts with an archive, or continues with a different one: name and audience stay, and new layouts are proposed. */
  async start(actor: Actor, source: AdditionSource): Promise<Addition> {
    const { id: ownerId, organizationId } = actor;
    invariant(ownerId !== null, "only a user adds packages");
    const { audit, clock, db } = this.dependencies;
    return await db.write((tx) => {
      const { adapters: _, ...former } = store.findAddition(tx, ownerId) ?? {
        version: removedVersion(tx, organizationId),
      };
      const addition = {
        ...former,
        ownerId,
        organizationId,
        source,
        version: former.version + 1,
        savedAtMs: clock.nowMs(),
      };
      store.putAddition(tx, addition);
      const after = { source: source.sourceRef, sha256: source.sha256 };
      audit.record(tx, { actor, action: "package_addition.start", target: source.artifactId, after });
      return addition;
    }, "unobserved");
  }

  /**
   * Names the package. With a new id it is another package, whose audience must be chosen again.
   * @param isReplacement whether it may replace a package of the draft with that id
   * @throws DomainError `package_addition.none`, `package_addition.changed`, `governance.invalid` with pointers into the package
   */
  async identify(
    actor: Actor,
    stated: StatedVersion,
    { isReplacement, ...identity }: AdditionIdentity & { isReplacement: boolean },
  ): Promise<Addition> {
    this.assertRead(actor, stated);
    const { packages } = this.dependencies.drafts.ownOrNew(actor).document;
    const known = packages.find(({ id }) => id === identity.id);
    const problems = packageProblems({ ...this.get(actor), identity, adapters: {} });
    refuseProblems([...problems, ...(known && !isReplacement ? [isTaken(known)] : [])]);
    return await this.#save(actor, stated, ({ audience, ...former }) => ({
      ...former,
      identity,
      replaces: known,
      ...(former.identity?.id === identity.id && audience && { audience }),
    }));
  }

  /**
   * Sets where the components of each harness are in the archive.
   * @param adapters unchecked
   * @throws DomainError like identify; `artifact.*` if the archive is missing
   */
  async layOut(
    actor: Actor,
    stated: StatedVersion,
    adapters: Readonly<Record<string, unknown>>,
  ): Promise<Addition> {
    this.assertRead(actor, stated);
    const { managed, problems } = await this.checkLayout(actor, adapters);
    refuseProblems(problems);
    invariant(managed, "a package without problems");
    return await this.#save(actor, stated, (former) => ({ ...former, adapters: managed.adapters }));
  }

  /**
   * Checks layouts, including against the archive and the versions that the draft allows.
   * @returns every problem, with pointers into the package @throws as layOut
   */
  async checkLayout(actor: Actor, adapters: Readonly<Record<string, unknown>>) {
    const addition = this.get(actor);
    const { identity } = addition;
    if (!identity) throw isUnfinished();
    const { archives, drafts, harnesses } = this.dependencies;
    const [managed, problems] = checkedPackage({ ...addition, identity, adapters });
    if (!managed || problems.length > 0) return { problems };
    const missing = await archives.missingPaths(actor.organizationId, managed);
    const unserved = unservedBy(managed, drafts.ownOrNew(actor).document, harnesses());
    return { managed, problems: [...missing, ...unserved] };
  }

  /**
   * Sets the audience.
   * @param stated.audienceRead `audienceMark` of the draft that the author has read; by default, the current one
   * @throws DomainError as identify; `governance.invalid` with pointers below `/package_audiences`
   */
  async offer(
    actor: Actor,
    { audienceRead, ...stated }: StatedVersion & Pick<Addition, "audienceRead">,
    audience: PackageAudience,
  ): Promise<Addition> {
    this.assertRead(actor, stated);
    const { identity } = this.get(actor);
    if (!identity) throw isUnfinished();
    const mark = audienceMark({ identity }, this.dependencies.drafts.ownOrNew(actor));
    if (audienceRead !== undefined && audienceRead !== mark) throw audienceChanged();
    const checked = await this.dependencies.drafts.checkAudience(actor, identity.id, audience);
    const chosen = { audience: checked, audienceRead: mark };
    return await this.#save(actor, stated, (former) => ({ ...former, ...chosen }));
  }

  /**
   * Puts the package into the draft and ends the addition. The overrides of a package with the same id stay.
   * @throws DomainError as identify; `package_addition.unfinished`; `policy_draft.changed`, `governance.invalid`
   */
  async finish(actor: Actor, { version }: StatedVersion): Promise<Draft> {
    const addition = this.get(actor);
    if (addition.version !== version) throw additionChanged();
    const whole = completeAddition(addition);
    if (!whole) throw isUnfinished();
    const { drafts, db } = this.dependencies;
    const own = drafts.ownOrNew(actor);
    const replaced = own.document.packages.find(({ id }) => id === whole.identity.id);
    refuseProblems([
      ...(replaced && !isDeepStrictEqual(replaced, whole.replaces) ? [isTaken(replaced)] : []),
      ...(replaced && whole.audienceRead !== audienceMark(whole, own) ? [isOfferedAnew(replaced)] : []),
    ]);
    const managed = packageOf(whole, replaced);
    const draft = await drafts.addPackage(actor, { version: own.version }, managed, whole.audience);
    await db.write((tx) => store.removeAddition(tx, addition.ownerId, version), "unobserved");
    return draft;
  }

  /** Ends the addition; the archive stays stored. @throws DomainError `package_addition.none` */
  async drop(actor: Actor): Promise<void> {
    const { ownerId, source } = this.get(actor);
    const { audit, db } = this.dependencies;
    await db.write((tx) => {
      if (!store.removeAddition(tx, ownerId)) throw noAddition();
      audit.record(tx, { actor, action: "package_addition.drop", target: source.artifactId });
    }, "unobserved");
  }

  /** Removes additions without a step for ADDITION_DAYS_MAX. @returns how many */
  async expire(actor: Actor): Promise<number> {
    const { audit, clock, db } = this.dependencies;
    const beforeMs = clock.nowMs() - ADDITION_DAYS_MAX * DAY_MS;
    return await db.write((tx) => {
      const removed = store.removeUntouchedAdditions(tx, beforeMs);
      for (const { ownerId } of removed)
        audit.record(tx, { actor, action: "package_addition.expire", target: ownerId });
      return removed.length;
    }, "unobserved");
  }

  /**
   * Must be the first check: a page that shows another problem carries the newest version, so its next form would overwrite
   * what another tab saved.
   * @throws DomainError `package_addition.none`, `package_addition.changed`
   */
  assertRead(actor: Actor, { version }: StatedVersion): void {
    if (this.get(actor).version !== version) throw additionChanged();
  }

  async #save(
    actor: Actor,
    { version }: StatedVersion,
    change: (former: Addition) => Addition,
  ): Promise<Addition> {
    const { clock, db } = this.dependencies;
    return await db.write((tx) => {
      const former = actor.id === null ? undefined : store.findAddition(tx, actor.id);
      if (!former) throw noAddition();
      if (former.version !== version) throw additionChanged();
      const addition = { ...change(former), version: version + 1, savedAtMs: clock.nowMs() };
      store.putAddition(tx, addition);
      return addition;
    }, "unobserved");
  }
}

/** @returns the package in the policy's form, or its problems with pointers into it */
function checkedPackage(content: Parameters<typeof packageOf>[0]) {
  const { packages, problems } = checkPackages([packageOf(content)]);
  return [packages[0], problems.map(inPackage)] as const;
}

const packageProblems = (content: Parameters<typeof packageOf>[0]): Problem[] => checkedPackage(content)[1];

const inPackage = ({ pointer, ...problem }: Problem): Problem => ({
  ...problem,
  pointer: pointer.replace(/^\/0/, ""),
});

const isTaken = ({ id, version }: { id: string; version: string }): Problem => ({
  pointer: "/id",
  detail: `the draft already has a package ${id} ${version}; confirm that this one replaces it, or choose another id`,
});

const isOfferedAnew = ({ id }: { id: string }): Problem => ({
  pointer: "/audience",
  detail: `the audience of ${id} in the draft has changed since you chose it; choose it again`,
});

const noAddition = (): DomainError =>
  new DomainError("not_found", "package_addition.none", "no package is being added", {
    hint: "begin with its archive; an addition ends after 30 days without a step",
  });

const additionChanged = (): DomainError =>
  new DomainError("conflict", "package_addition.changed", "the package was changed in another tab", {
    hint: "check it again; none of your input is lost",
  });

const audienceChanged = (): DomainError =>
  new DomainError(
    "conflict",
    "package_addition.changed",
    "the audience of the package in the draft has changed since you opened this page",
    { hint: "check it again; your input is still here" },
  );

const isUnfinished = (): DomainError =>
  new DomainError("conflict", "package_addition.unfinished", "an earlier step is not done");
