// The chain of audit entries: each digest covers the entry and the digest of the entry before it. Writing and verifying share
// this code.
import { sha256Hex } from "../../platform/ids.ts";
import type { auditEntries } from "./tables.ts";

export type AuditRow = typeof auditEntries.$inferSelect;

/** The columns that differ between entries that are appended together. */
export type Link = Pick<AuditRow, "target" | "previousDigest" | "digest">;
/** The columns that such entries share. */
export type Facts = Omit<AuditRow, "id" | "redactedBy" | keyof Link>;

/** The previous digest of the first entry. */
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
    ...(entry.credential === null ? [] : [entry.credential]), // older entries have no credential; their digests stay valid
  ];
  return sha256Hex(`${previousDigest}\n${JSON.stringify(content)}`);
}

/**
 * @param start digest of the entry before the first
 * @returns one link for each target, in their order
 */
export function chain(facts: Facts, targets: readonly string[], start: string): Link[] {
  let previousDigest = start;
  return targets.map((target) => {
    const link = { target, previousDigest, digest: digestOf(previousDigest, { ...facts, target }) };
    previousDigest = link.digest;
    return link;
  });
}
