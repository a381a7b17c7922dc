// Reads revisions: the current one, any other, and lists. Revisions are cached, because they never change. The current revision
// and the names of authors are read again whenever governance rows may have changed.
import { LRUCache } from "lru-cache";
import type { Connection, Db } from "../../../platform/database/database.ts";
import type { Problem } from "../../../platform/errors.ts";
import { UUID_PATTERN } from "../../../platform/ids.ts";
import { readLimit, refuseProblems } from "../../shared/page.ts";
import { noFormer, noPolicy, revisionNotFound } from "../errors.ts";
import { REVISIONS_LISTED_MAX, type Revision } from "../model.ts";
import * as store from "../store.ts";

export interface RevisionPage {
  cursor?: string | undefined;
  limit?: string | undefined;
}

/** Maximum number of cached revisions: workstations report the current one and a few earlier ones. */
export const REVISIONS_KEPT_MAX = 8;

interface Known {
  /** revision of the cache's topic at the lookup */
  at: number;
  revision: Revision | undefined;
}

interface Kept {
  /** revision of the cache's topic at the last comparison with its row */
  at: number;
  revision: Revision;
}

export class Revisions {
  readonly #kept = new LRUCache<string, Kept>({ max: REVISIONS_KEPT_MAX });
  readonly #current = new Map<string, Known>();

  constructor(private readonly db: Db) {}

  /** @returns the current revision, the same object until the next publication; undefined before the first start */
  current(organizationId: string): Revision | undefined {
    const at = this.db.revision("governance");
    const known = this.#current.get(organizationId);
    if (known?.at === at) return known.revision;
    const id = store.newestId(this.db.read, organizationId);
    const revision = id === undefined ? undefined : this.find(organizationId, id);
    this.#current.set(organizationId, { at, revision });
    return revision;
  }

  /**
   * @param connection a transaction, which prevents publishing until it ends
   * @returns the packages that the current policy names, each with the number of the revision
   */
  packagesInUse(connection: Connection, organizationId: string): Map<string, number> {
    const [newest] = store.newestRevisions(connection, organizationId, 1);
    return new Map(newest?.document.packages.map(({ id }) => [id, newest.sequence]));
  }

  /** @returns the revision with that id in the organization, current or former */
  find(organizationId: string, id: string): Revision | undefined {
    const known = this.#upToDate(id) ?? store.findRevision(this.db.read, organizationId, id);
    if (known?.organizationId !== organizationId) return undefined;
    return this.keep(known);
  }

  /** An erasure removes the author's name from a revision. */
  #upToDate(id: string): Revision | undefined {
    const kept = this.#kept.get(id);
    if (!kept || kept.at === this.db.revision("governance")) return kept?.revision;
    const { revision } = kept;
    const byline = store.bylineOf(this.db.read, id);
    const isSame = byline?.authorLabel === revision.authorLabel && byline.comment === revision.comment;
    return isSame ? revision : undefined;
  }

  /**
   * @returns the revision with that id
   * @throws DomainError `governance.not_found`
   */
  show(organizationId: string, id: string): Revision {
    const revision = this.find(organizationId, id);
    if (!revision) throw revisionNotFound(id);
    return revision;
  }

  /**
   * @param reference an id, or the number of a revision
   * @throws DomainError `governance.not_found`
   */
  named(organizationId: string, reference: string): Revision {
    const [, digits] = /^r?(\d{1,15})$/.exec(reference) ?? [];
    const number = digits === undefined ? undefined : Number(digits);
    const id =
      number === undefined
        ? reference.toLowerCase()
        : store.idOfSequence(this.db.read, organizationId, number);
    return this.show(organizationId, id ?? reference);
  }

  /**
   * @param reference as for `named`, or the id of a revision that a restore removed, because workstations may still report it
   * @returns the id
   * @throws DomainError `governance.not_found`
   */
  reportedId(organizationId: string, reference: string): string {
    return UUID_PATTERN.test(reference) ? reference.toLowerCase() : this.named(organizationId, reference).id;
  }

  /**
   * @returns the current revision
   * @throws DomainError `governance.no_policy`
   */
  inForce(organizationId: string): Revision {
    const revision = this.current(organizationId);
    if (!revision) throw noPolicy();
    return revision;
  }

  /** @returns the revision published before it @throws DomainError `governance.no_former` */
  before(organizationId: string, { sequence }: Pick<Revision, "sequence">): Revision {
    const [former] = store.listRevisions(this.db.read, organizationId, { limit: 1, before: sequence });
    if (!former) throw noFormer();
    return this.show(organizationId, former.id);
  }

  /** @returns the id of the revision with that number; undefined for none */
  idOf(organizationId: string, sequence: number): string | undefined {
    return store.idOfSequence(this.db.read, organizationId, sequence);
  }

  /**
   * @param before number of a revision; only earlier ones are listed
   * @returns at most REVISIONS_LISTED_MAX revisions without documents, newest first
   */
  list(organizationId: string, before?: number): store.RevisionSummary[] {
    return store.listRevisions(this.db.read, organizationId, { limit: REVISIONS_LISTED_MAX, before });
  }

  /**
   * @param query unchecked; a cursor is the id or the number of the last revision of the previous page
   * @returns a page of the list, newest first
   * @throws DomainError `governance.bad_page`
   */
  page(organizationId: string, { cursor, limit: text }: RevisionPage): store.RevisionSummary[] {
    const problems: Problem[] = [];
    const limit = readLimit(text, problems);
    const before = cursor === undefined ? undefined : this.#sequenceOf(organizationId, cursor);
    if (cursor !== undefined && before === undefined)
      problems.push({ pointer: "/cursor", detail: "cursor must be the id or the number of a revision" });
    refuseProblems("governance.bad_page", problems);
    return store.listRevisions(this.db.read, organizationId, { limit, before });
  }

  #sequenceOf(organizationId: string, reference: string): number | undefined {
    if (/^\d{1,15}$/.test(reference)) return Number(reference);
    return store.findSequence(this.db.read, organizationId, reference);
  }

  /** Marks a revision as most recently used. @returns it */
  keep(revision: Revision): Revision {
    this.#kept.set(revision.id, { at: this.db.revision("governance"), revision });
    return revision;
  }
}
