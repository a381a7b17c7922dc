// `sessions remove` and `sessions revoke`.
import type { SessionView } from "../../../src/domain/sessions/service.ts";
import { countText } from "../../../src/platform/count-text.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { runSynchronously } from "../../../src/platform/steps.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { operatorAsViewer } from "./read.ts";
import { sentenceOf, sessionDocument } from "./view.ts";

const find = (call: Call, id: string): SessionView =>
  runSynchronously(call.domain.sessions.detail(operatorAsViewer(call), id)).session;

/** @throws DomainError `sessions.not_found`, `sessions.on_hold` */
export async function remove(call: Call): Promise<void> {
  const { domain, actor, output, context, command, args } = call;
  const [id = ""] = args;
  const session = find(call, id);
  const details = [
    sentenceOf(session),
    ...(session.heldAtMs === null ? [] : ["It is held, so this will be refused: see `sessions release`."]),
    "All its versions and their bytes are deleted. Copies on workstations stay.",
  ];
  if (!(await isConfirmed(context, command, { action: `remove session ${session.id}`, details }))) return;
  await domain.sessions.removal.remove(actor, operatorAsViewer(call), session.id);
  output.result({ changed: true, session: sessionDocument(session) }, `removed ${session.id}`);
}

/** @throws DomainError `sessions.not_found`, `user.not_found`, `usage.which_sessions` */
export async function revoke(call: Call): Promise<void> {
  const { domain, actor, output, context, command } = call;
  const { sharing } = domain.sessions;
  const { wanted, of } = wantedOf(call);
  const count = sharing.shared(actor.organizationId, wanted).length;
  if (count === 0)
    return output.result({ changed: false, sessions: 0 }, `unchanged: ${of} is shared with nobody`);
  const details = ["Afterwards, only the owner and administrators see it. Downloaded copies stay."];
  const action = `end the sharing of ${countText(count, "session")} (${of})`;
  if (!(await isConfirmed(context, command, { action, details }))) return;
  const sessions = await sharing.end(actor, wanted);
  output.result(
    { changed: sessions > 0, sessions },
    `ended the sharing of ${countText(sessions, "session")}`,
  );
}

function wantedOf(call: Call): { wanted: { sessionId: string } | { ownerId: string }; of: string } {
  const [id] = call.args;
  const owner = call.text("owner");
  if (id !== undefined && owner === undefined) {
    const session = find(call, id);
    return { wanted: { sessionId: session.id }, of: `session ${session.id}` };
  }
  if (id !== undefined || owner === undefined) throw unclear();
  const user = call.domain.identity.users.find(call.actor.organizationId, owner);
  return { wanted: { ownerId: user.id }, of: `every session of ${user.email}` };
}

const unclear = (): DomainError =>
  new DomainError("invalid", "usage.which_sessions", "name either a session or --owner USER", {
    hint: "run: quartermaster sessions revoke --help",
  });
