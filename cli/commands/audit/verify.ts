// `audit verify`: reads the whole audit log and reports the first entry that differs from what was recorded.
import { breakText } from "../../../src/domain/audit/reading/break-text.ts";
import { digestText, verificationDocument } from "../../../src/domain/audit/reading/entry-document.ts";
import type { Verification } from "../../../src/domain/audit/verification.ts";
import { countText } from "../../../src/platform/count-text.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { startProgress } from "../../output/progress.ts";

/** @throws DomainError `audit.chain_broken` after the report */
export async function verify(call: Call): Promise<void> {
  const { output } = call;
  const verification = await readAll(call);
  const { broken } = verification;
  output.result(verificationDocument(verification), intactText(verification));
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

function intactText({ entries, removed, last }: Verification): string {
  const count = countText(entries, "entry verified", "entries verified");
  const gone = removed === 0 ? "" : `; retention removed ${removed} earlier`;
  if (last === undefined) return `${count}${gone}`;
  return `${count}, the last is ${last.id} with ${digestText(last.digest)}${gone}`;
}
