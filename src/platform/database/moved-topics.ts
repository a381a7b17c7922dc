// Topics whose revision moves because of a statement, whatever topic its write names. A statement that a cache must never
// miss says so itself: then no caller can forget it. The revisions are database.ts's, which moves them after COMMIT.
import type { Connection, Topic, Tx } from "./database.ts";

const moved = new WeakMap<Connection, Set<Topic>>();

/** Marks the topic: its revision moves when the write that this statement is part of is committed. */
export function moveRevision(tx: Tx, topic: Topic): void {
  const topics = moved.get(tx);
  if (topics) topics.add(topic);
  else moved.set(tx, new Set([topic]));
}

/** @returns the topics that were marked since the last time, and forgets them */
export function takeMovedTopics(tx: Tx): readonly Topic[] {
  const topics = moved.get(tx);
  if (!topics || topics.size === 0) return [];
  moved.delete(tx);
  return [...topics];
}
