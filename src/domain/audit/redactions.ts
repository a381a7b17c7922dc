// Replaces one person by a pseudonym in the audit log. The chain still holds: an entry keeps the digest of what was recorded, a
// redaction holds the digest of what it says now, and the entry of the erasure holds a digest over all its redactions.
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

/** The action of the entry that vouches for redactions. */
export const ERASE_ACTION = "user.erase";

/** Entries that one transaction redacts at most: others wait for it. */
export const REDACTED_MAX = 1_000;
const PAGE_ROWS = 500;

/** Names under which the log knows a user. */
export interface KnownNames {
  addresses: Set<string>;
  userNames: Set<string>;
}

export interface Mentions {
  /** of entries that mention the person, in their order */
  ids: readonly number[];
  /** of the last entry that was read */
  upTo: number;
}

export interface Walk {
  signal?: AbortSignal;
  /** told after each page how many entries it had */
  advance?: (entries: number) => void;
}

export class Redactions {
  readonly redactedMax = REDACTED_MAX;

  constructor(private readonly own: { db: Db; audit: Audit }) {}

  /** @returns addresses and names of the identity provider that entries of and about a user have */
  namesOf(organizationId: string, userId: string): KnownNames {
    const { read } = this.own.db;
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

  /** Reads the whole log. */
  async mentions(person: Person, { signal, advance }: Walk): Promise<Mentions> {
    const redactor = new Redactor(person);
    const ids: number[] = [];
    let upTo = 0;
    for (let isEnd = false; !isEnd; ) {
      signal?.throwIfAborted();
      const page = listFollowing(this.own.db.read, { after: upTo, limit: PAGE_ROWS });
      for (const entry of page) if (redactor.redact(entry)) ids.push(entry.id);
      upTo = page.at(-1)?.id ?? upTo;
      isEnd = page.length < PAGE_ROWS;
      advance?.(page.length);
      await setImmediate(); // signals and other work get their turn
    }
    return { ids, upTo };
  }

  /** @returns the ids of entries that were recorded since, and mention the person */
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
   * Redacts entries and records who did so. Entries that retention has removed meanwhile are left out.
   * @returns how many it redacted
   */
  redact(tx: Tx, { actor, person, ids, summary }: Redacting): number {
    const redactor = new Redactor(person);
    const entries = ids
      .map((id) => store.entryOf(tx, id))
      .map((entry) => entry && redactor.redact(entry))
      .filter((entry) => entry !== undefined);
    const digests = entries.map((entry) => ({ entryId: entry.id, digest: contentDigest(entry) }));
    const after = { ...summary, redacted: entries.length, redactions: digestOfAll(digests) };
    this.own.audit.record(tx, { actor, action: ERASE_ACTION, target: person.pseudonym, after });
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
  /** what else the entry of the erasure says */
  summary: AuditSummary;
}

function addNames(names: KnownNames, text: string | null): void {
  const said: Record<string, unknown> = JSON.parse(text ?? "{}");
  if (typeof said.email === "string") names.addresses.add(said.email);
  if (typeof said.user_name === "string") names.userNames.add(said.user_name);
}

/** @returns the digest of what an entry says, in its place in the chain */
export const contentDigest = (entry: AuditRow): string => digestOf(entry.previousDigest, entry);

/** @param redactions by the id of their entry */
export const digestOfAll = (redactions: readonly Omit<store.Redaction, "erasureId">[]): string =>
  sha256Hex(redactions.map(({ entryId, digest }) => `${entryId} ${digest}\n`).join(""));

/** @returns the digest over the redactions of an erasure as they are stored; undefined where they are more than one makes */
export function storedDigest(connection: Connection, erasureId: number): string | undefined {
  const stored = store.listOfErasure(connection, { erasureId, limit: REDACTED_MAX + 1 });
  return stored.length > REDACTED_MAX ? undefined : digestOfAll(stored);
}

/** @returns what the entry of an erasure says of its redactions */
export function recordedDigest({ after }: AuditRow): unknown {
  const said: Record<string, unknown> = JSON.parse(after ?? "{}");
  return said.redactions;
}
