// The beginning of the chain of audit entries. Retention removes the oldest entries and moves the checkpoint in the same
// transaction. An entry in the chain repeats the checkpoint, so that verification detects a moved one.
import { CHAIN_START } from "./chain.ts";
import type { auditCheckpoint } from "./tables.ts";

/** The newest entry that retention removed. */
export type Checkpoint = Omit<typeof auditCheckpoint.$inferSelect, "id">;

export const CHECKPOINT_ID = 1;

/** The initial checkpoint. */
export const NOTHING_REMOVED: Checkpoint = { entryId: 0, digest: CHAIN_START, removed: 0 };

/** Action of the audit entry that repeats the checkpoint. */
export const FORGET_ACTION = "audit.forget";

/** @returns the checkpoint in the form of an entry of FORGET_ACTION */
export const checkpointSummary = ({ entryId, digest, removed }: Checkpoint) => ({
  up_to: entryId,
  digest,
  removed_in_all: removed,
});

/**
 * @param after `after` of an entry of FORGET_ACTION
 * @returns whether it repeats the checkpoint
 */
export function isRepeatedIn(after: string | null, checkpoint: Checkpoint): boolean {
  const expected = Object.entries(checkpointSummary(checkpoint));
  const said: Record<string, unknown> = JSON.parse(after ?? "{}");
  return expected.every(([name, value]) => said[name] === value);
}
