// The interface of a receiver of the audit log, and the batches of entries that it gets.
import type { AuditRow } from "../chain.ts";

/** Maximum number of entries in a batch. With BATCH_BYTES_MAX, building a batch takes a few milliseconds. */
export const BATCH_ENTRIES_MAX = 250;
/** Maximum bytes of the summaries in a batch; a larger single entry is still sent. */
export const BATCH_BYTES_MAX = 256 * 1024;

export interface Receiver {
  /**
   * Sends the entries in their order, and resolves once the receiver has them.
   * @throws DomainError `unavailable` if it may not have all of them
   */
  send(entries: readonly AuditRow[], signal: AbortSignal): Promise<void>;
}

/** @param entries at most BATCH_ENTRIES_MAX @returns the leading entries that fit into one batch */
export function batchOf(entries: readonly AuditRow[]): readonly AuditRow[] {
  let bytes = 0;
  const end = entries.findIndex(({ before, after }, index) => {
    bytes += (before?.length ?? 0) + (after?.length ?? 0);
    return index > 0 && bytes > BATCH_BYTES_MAX;
  });
  return end === -1 ? entries : entries.slice(0, end);
}
