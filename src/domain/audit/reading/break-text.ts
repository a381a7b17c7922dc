// Describes in words where the audit log differs from its recorded state.
import { toRfc3339 } from "../../../platform/clock.ts";
import type { AuditRow } from "../chain.ts";
import type { ChainBreak } from "../verification.ts";

/** @returns a clause without a period, for people */
export function breakText(broken: ChainBreak): string {
  if (broken.kind === "emptied")
    return "the log is empty, although it recorded the creation of this installation: all entries were removed";
  if (broken.kind === "cut_off")
    return `entries up to ${broken.recordedUpTo} were recorded, but the last ones are missing`;
  return `${nameOf(broken.entry)} ${BREAK_TEXTS[broken.kind]}`;
}

const BREAK_TEXTS = {
  altered: "differs from what was recorded",
  unlinked: "does not follow its predecessor: an entry was removed, inserted or moved",
  redactions_altered: "is an erasure, and the entries that it redacted were changed afterwards",
  begins_late: "is the first in the log, but retention did not remove all entries before it",
} as const;

const nameOf = ({ id, action, actorLabel, atMs }: AuditRow): string =>
  `entry ${id} (${action} by ${actorLabel}, ${toRfc3339(atMs)})`;
