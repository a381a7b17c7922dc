// Replaces one person with a pseudonym in the audit log. The chain stays valid: an entry keeps the digest of its original
// content, a redaction holds the digest of the new content, and the entry of the erasure holds a digest over all its redactions.
import { setImmediate } from "node:timers/promises";
import type { Connection, Db, Tx } from "../../platform/database/database.ts";
import { sha256Hex } from "../../platform/ids.ts";
import type { Actor } from "../shared/actor.ts";
import type { Person } from "../shared/personal-data.ts";
import { type AuditRow, digestOf } from "./chain.ts";
import { lastIdEver, listFollowing } from "./log-store.ts";
import * as store from "./redaction-store.ts";
import { Redactor } from "./redactor.ts";
import type { Audit, AuditSummary } from "./service.ts";

/** The action of the entry that records an erasure and the digest of its redactions. */
export const ERASE_ACTION = "user.erase";

/** Maximum number of entries that one transaction redacts, because other writes wait for it. */
export const REDACTED_MAX = 1_000;
const PAGE_ROWS = 500;

/** Names of a user in the log. */
export interface KnownNames {
  addresses: Set<string>;
  userNames: Set<string>;
}

export interface Mentions {
  /** ids of the entries that mention the person, in ascending order */
  ids: readonly number[];
  /** id of the last entry that was read */
  upTo: number;
}

export interface Walk {
  signal?: AbortSignal;
  /** called after each page with its number of entries */
  advance?: (entries: number) => void;
}

export class Redactions {
  readonly redactedMax = REDACTED_MAX;

  constructor(private readonly dependencies: { db: Db; audit: Audit }) {}

  /** @returns the addresses and identity provider names in the entries of and about a user */
  namesOf(organizationId: string, userId: string): KnownNames {
    const { read } = this.dependencies.db;
    const names: KnownNames = { addresses: new Set(), userNames: new Set() };
    for (const label of store.listLabels(read, { organizationId, id: userId })) names.addresses.add(label);
    for (let after = 0, isEnd = false; !isEnd; ) {
      const page = store.listAbout(read, { organizationId, target: userId, after, limit: PAGE_ROWS });
      for (const { before, after: since } of page) for (const text of [before, since]) addNames(names, text);
      after = page.at(-1)?.id ?? after;
      isEnd = page.length < PAGE_ROWS;
    }
    return names;
  }

  /** Finds the entries that mention the person; reads the whole log. */
  async mentions(person: Person, { signal, advance }: Walk): Promise<Mentions> {
    const redactor = new Redactor(person);
    const ids: number[] = [];
    let upTo = 0;
    for (let isEnd = false; !isEnd; ) {
      signal?.throwIfAborted();
      const page = listFollowing(this.dependencies.db.read, { after: upTo, limit: PAGE_ROWS });
      for (const entry of page) if (redactor.redact(entry)) ids.push(entry.id);
      upTo = page.at(-1)?.id ?? upTo;
      isEnd = page.length < PAGE_ROWS;
      advance?.(page.length);
      await setImmediate(); // lets signals and other work run
    }
    return { ids, upTo };
  }

  /** @returns the ids of the entries after `upTo` that mention the person */
  since(tx: Tx, person: Person, upTo: number): number[] {
    const redactor = new Redactor(person);
    const ids: number[] = [];
    for (let after = upTo, isEnd = false; !isEnd; ) {
      const page = listFollowing(tx, { after, limit: PAGE_ROWS });
      for (const entry of page) if (redactor.redact(entry)) ids.push(entry.id);
      after = page.at(-1)?.id ?? after;
      isEnd = page.length < PAGE_ROWS;
    }
    return ids;
  }

  /**
   * Redacts entries and records the erasure. Skips entries that retention has already removed.
   * @returns the number of redacted entries
   */
  redact(tx: Tx, { actor, person, ids, summary }: Redacting): number {
    const redactor = new Redactor(person);
    const entries = ids
      .map((id) => store.entryOf(tx, id))
      .map((entry) => entry && redactor.redact(entry))
      .filter((entry) => entry !== undefined);
    const digests = entries.map((entry) => ({ entryId: entry.id, digest: contentDigest(entry) }));
    const after = { ...summary, redacted: entries.length, redactions: digestOfAll(digests) };
    this.dependencies.audit.record(tx, { actor, action: ERASE_ACTION, target: person.pseudonym, after });
    const erasureId = lastIdEver(tx);
    for (const [at, entry] of entries.entries())
      store.redact(tx, entry, { entryId: entry.id, erasureId, digest: digests[at]?.digest ?? "" });
    return entries.length;
  }
}

export interface Redacting {
  actor: Actor;
  person: Person;
  ids: readonly number[];
  /** additional members of the entry of the erasure */
  summary: AuditSummary;
}

function addNames(names: KnownNames, text: string | null): void {
  const summary: Record<string, unknown> = JSON.parse(text ?? "{}");
  if (typeof summary.email === "string") names.addresses.add(summary.email);
  if (typeof summary.user_name === "string") names.userNames.add(summary.user_name);
}

/** @returns the digest of the current content of an entry, chained to the entry before it */
export const contentDigest = (entry: AuditRow): string => digestOf(entry.previousDigest, entry);

/** @param redactions ordered by the id of their entry */
const digestOfAll = (redactions: readonly Omit<store.Redaction, "erasureId">[]): string =>
  sha256Hex(redactions.map(({ entryId, digest }) => `${entryId} ${digest}\n`).join(""));

/** @returns the digest over the stored redactions of an erasure; undefined if there are more than REDACTED_MAX */
export function storedDigest(connection: Connection, erasureId: number): string | undefined {
  const stored = store.listOfErasure(connection, { erasureId, limit: REDACTED_MAX + 1 });
  return stored.length > REDACTED_MAX ? undefined : digestOfAll(stored);
}

/** @returns the digest of the redactions, from the entry of their erasure */
export function recordedDigest({ after }: AuditRow): unknown {
  const summary: Record<string, unknown> = JSON.parse(after ?? "{}");
  return summary.redactions;
}
