// `users erase`: shows the plan, asks for the e-mail address, and erases. src/domain/erasure finds the data of a person.
import type { Erased, Walk, Wanted } from "../../../src/domain/erasure/service.ts";
import { countText } from "../../../src/platform/count-text.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isNameConfirmed } from "../../input/prompt.ts";
import { startProgress } from "../../output/progress.ts";

const OBJECTS_AT_ONCE = 1_000;

/** @throws DomainError `user.*`, `erasure.nothing_found`, `confirmation.*` */
export async function erase(call: Call): Promise<void> {
  const { domain, actor, context, command, output, args } = call;
  const { erasure } = domain;
  const wanted = erasure.find(actor, args[0] ?? "");
  const planned = await watched(call, (walk) => erasure.plan(actor, wanted, walk));
  const name = nameOf(wanted);
  const action = `erase ${name} permanently`;
  if (!(await isNameConfirmed(context, command, { name, action, details: detailsOf(wanted, planned) })))
    return;
  const erased = await watched(call, (walk) => erasure.erase(actor, wanted, walk));
  const sessions = await deleteObjects(call);
  const { pseudonym, rows, auditEntries } = erased;
  const text = `erased ${name}; ${countText(auditEntries, "entry", "entries")} of the audit log now name ${pseudonym}`;
  output.result(
    { erased: true, pseudonym, rows, audit_entries: auditEntries, session_objects: sessions.objects },
    text,
  );
  if (!sessions.isDone) output.warning(OBJECTS_LEFT);
  for (const note of notesOf(erased)) output.note(note);
}

const OBJECTS_LEFT =
  "the store of captured sessions does not respond; the job session-retention deletes the rest of the person's sessions there";

/** Deletes the bytes of the sessions whose rows are gone. */
async function deleteObjects({ domain, context }: Call): Promise<{ objects: number; isDone: boolean }> {
  const signal = context.stopSignal();
  let objects = 0;
  for (;;) {
    const drained = await domain.sessions.removals.drain({ limit: OBJECTS_AT_ONCE, signal });
    objects += drained.objects;
    if (!drained.isDone || drained.objects === 0) return { objects, isDone: drained.isDone };
  }
}

async function watched<T>({ domain, context }: Call, work: (walk: Walk) => Promise<T>): Promise<T> {
  const total = domain.auditLog.size();
  using progress = startProgress(context, { label: "reading the audit log", unit: "entries", total });
  return await work({ signal: context.stopSignal(), advance: progress.advance });
}

const nameOf = ({ user, person }: Wanted): string => user?.email ?? person.addresses[0] ?? "";

function detailsOf({ user }: Wanted, { pseudonym, rows, auditEntries }: Erased): string[] {
  const counts = Object.entries(rows).filter(([, count]) => count > 0);
  return [
    ...(user && user.status !== "removed" ? ["The user is removed first: all logins end immediately."] : []),
    ...(user ? [] : ["No user has or had this address."]),
    ...counts.map(([name, count]) => `${name.replaceAll("_", " ")}: ${count}`),
    `${countText(auditEntries, "entry", "entries")} of the audit log will name ${pseudonym} instead.`,
    "This cannot be undone. Older backups still contain the data: see `help personal-data`.",
  ];
}

function notesOf({ rows }: Erased): string[] {
  const waiting = rows.waiting_gateway_revocations ?? 0;
  const notes = ["older backups still contain the data: see quartermaster help personal-data"];
  if (waiting > 0)
    notes.push(
      "a gateway key is not revoked yet; its row keeps the address until the gateway confirms the revocation",
    );
  return notes;
}
