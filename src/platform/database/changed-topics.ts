// Topics that a statement changes in addition to the topic of its write. A statement that a cache must never miss marks
// its topic itself, so no caller can forget it. database.ts changes the revisions after COMMIT.
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";

/** The rows that a cache depends on. A write that names its topic does not affect other caches; no cache holds `unobserved` rows. */
export type Topic =
  | "access"
  | "client_rows"
  | "branding"
  | "catalog"
  | "clients"
  | "gateway"
  | "governance"
  | "jobs"
  | "provisioning"
  | "unobserved"
  | "user_rows";

const moved = new WeakMap<BunSQLiteDatabase, Set<Topic>>();

/** Marks a topic, whose revision changes when the current write commits. */
export function markTopicChanged(tx: BunSQLiteDatabase, topic: Topic): void {
  const topics = moved.get(tx);
  if (topics) topics.add(topic);
  else moved.set(tx, new Set([topic]));
}

/** @returns the topics marked since the last call, and clears them */
export function takeChangedTopics(tx: BunSQLiteDatabase): readonly Topic[] {
  const topics = moved.get(tx);
  if (!topics || topics.size === 0) return [];
  moved.delete(tx);
  return [...topics];
}
