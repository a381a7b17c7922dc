// How entries are chained: each digest covers the entry and the digest before it. Said once, for writing and for verifying.
import { sha256Hex } from "../../platform/ids.ts";
import type { auditEntries } from "./tables.ts";

export type AuditRow = typeof auditEntries.$inferSelect;

/** What is different in each of the entries that are appended together. */
export type Link = Pick<AuditRow, "target" | "previousDigest" | "digest">;
/** What is the same in all of them. */
export type Facts = Omit<AuditRow, "id" | "redactedBy" | keyof Link>;

/** What the first entry is chained to. */
export const CHAIN_START = "";

/** @returns the digest of an entry, 64 lower-case hex digits */
export function digestOf(previousDigest: string, entry: Facts & Pick<Link, "target">): string {
  const content = [
    entry.atMs,
    entry.organizationId,
    entry.actorKind,
    entry.actorId,
    entry.actorLabel,
    entry.address,
    entry.requestId,
    entry.action,
    entry.target,
    entry.before,
    entry.after,
    ...(entry.credential === null ? [] : [entry.credential]), // entries were chained before there was any
  ];
  return sha256Hex(`${previousDigest}\n${JSON.stringify(content)}`);
}

/** @param start digest of the entry before the first */
export function chain(facts: Facts, targets: readonly string[], start: string): Link[] {
  let previousDigest = start;
  return targets.map((target) => {
    const link = { target, previousDigest, digest: digestOf(previousDigest, { ...facts, target }) };
    previousDigest = link.digest;
    return link;
  });
}
