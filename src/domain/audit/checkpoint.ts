// Where the chain of audit entries begins. Retention removes the oldest entries and moves the checkpoint in the same transaction;
// an entry in the chain repeats it, so that nobody can move it unseen.
import { CHAIN_START } from "./chain.ts";
import type { auditCheckpoint } from "./tables.ts";

/** The newest entry that retention removed. */
export type Checkpoint = Omit<typeof auditCheckpoint.$inferSelect, "id">;

export const CHECKPOINT_ID = 1;

/** Before anything was removed. */
export const NOTHING_REMOVED: Checkpoint = { entryId: 0, digest: CHAIN_START, removed: 0 };

/** The action of the entry that repeats the checkpoint. */
export const FORGET_ACTION = "audit.forget";

/** @returns what that entry says of the checkpoint */
export const checkpointSummary = ({ entryId, digest, removed }: Checkpoint) => ({
  up_to: entryId,
  digest,
  removed_in_all: removed,
});

/** @returns whether an entry of FORGET_ACTION repeats the checkpoint. @param after the entry's own text */
export function isRepeatedIn(after: string | null, checkpoint: Checkpoint): boolean {
  const expected = Object.entries(checkpointSummary(checkpoint));
  const said: Record<string, unknown> = JSON.parse(after ?? "{}");
  return expected.every(([name, value]) => said[name] === value);
}
