// Topics whose revision moves because of a statement, whatever topic its write names. A statement that a cache must never
// miss says so itself: then no caller can forget it. The revisions are database.ts's, which moves them after COMMIT.
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";

/** What a cache is about; a write that names its topic leaves other caches alone, and `unobserved` rows are in none. */
export type Topic =
  | "access"
  | "branding"
  | "catalog"
  | "clients"
  | "gateway"
  | "governance"
  | "jobs"
  | "provisioning"
  | "unobserved";

const moved = new WeakMap<BunSQLiteDatabase, Set<Topic>>();

/** Marks the topic: its revision moves when the write that this statement is part of is committed. */
export function moveRevision(tx: BunSQLiteDatabase, topic: Topic): void {
  const topics = moved.get(tx);
  if (topics) topics.add(topic);
  else moved.set(tx, new Set([topic]));
}

/** @returns the topics that were marked since the last time, and forgets them */
export function takeMovedTopics(tx: BunSQLiteDatabase): readonly Topic[] {
  const topics = moved.get(tx);
  if (!topics || topics.size === 0) return [];
  moved.delete(tx);
  return [...topics];
}
