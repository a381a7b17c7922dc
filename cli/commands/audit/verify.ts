// `audit verify`: reads the whole audit log and reports the first entry that differs from what was recorded.
import type { AuditRow } from "../../../src/domain/audit/chain.ts";
import { digestText, verificationDocument } from "../../../src/domain/audit/reading/entry-document.ts";
import type { Break, Verification } from "../../../src/domain/audit/verification.ts";
import { toRfc3339 } from "../../../src/platform/clock.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { startProgress } from "../../output/progress.ts";

/** @throws DomainError `audit.chain_broken` after the report */
export async function verify(call: Call): Promise<void> {
  const { output } = call;
  const verification = await readAll(call);
  const { broken } = verification;
  output.result(verificationDocument(verification), fittingText(verification));
  if (broken === undefined) return;
  throw new DomainError("unverified", "audit.chain_broken", breakText(broken), {
    hint: "compare the log with an earlier export or with the log in a backup",
  });
}

async function readAll({ domain, context }: Call): Promise<Verification> {
  const total = domain.auditLog.size();
  using progress = startProgress(context, { label: "verifying the audit log", unit: "entries", total });
  return await domain.auditLog.verify({ signal: context.stopSignal(), advance: progress.advance });
}

function fittingText({ entries, removed, last }: Verification): string {
  const count = entries === 1 ? "1 entry verified" : `${entries} entries verified`;
  const gone = removed === 0 ? "" : `; retention removed ${removed} earlier`;
  if (last === undefined) return `${count}${gone}`;
  return `${count}, the last is ${last.id} with ${digestText(last.digest)}${gone}`;
}

function breakText(broken: Break): string {
  if (broken.kind === "emptied")
    return "the log is empty, although this installation has recorded its creation there: all entries were removed";
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
