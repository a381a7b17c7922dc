// `logins revoke`: ends one login, all logins of a user with or without one exception, or all logins. A running server refuses their next request.
import type { LoginView } from "../../../src/domain/access/service.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { readLogins, userIdOf } from "./read.ts";
import { type Counts, countsText } from "./view.ts";

export async function revoke(call: Call): Promise<void> {
  const [id] = call.args;
  const given = [id !== undefined, call.text("user") !== undefined, call.has("all")].filter(Boolean);
  if (given.length !== 1) throw unclear();
  if (id !== undefined && call.text("except") !== undefined) throw unclearExcept();
  if (id !== undefined) return revokeOne(call, id);
  const userId = userIdOf(call);
  const kept = call.text("except");
  if (kept !== undefined && userId === undefined) throw unclearExcept();
  if (userId === undefined) return revokeAll(call);
  return kept === undefined ? revokeOfUser(call, userId) : revokeOthers(call, userId, kept);
}

async function revokeOne(call: Call, id: string): Promise<void> {
  const { domain, actor, output } = call;
  const login = domain.access.logins.show(id);
  const plan = { action: `revoke 1 ${wordOf(login)}`, details: [sentenceOf(login)] };
  if (!(await isConfirmed(call.context, call.command, plan))) return;
  const changed = await domain.access.logins.revoke(actor, id);
  const text = changed ? `revoked: ${sentenceOf(login)}` : `unchanged: this ${wordOf(login)} has ended`;
  output.result({ changed, id, kind: login.kind }, text);
}

async function revokeOfUser(call: Call, userId: string): Promise<void> {
  const { users } = call.domain.identity;
  const { email } = users.show(call.actor.organizationId, userId);
  const live = liveLogins(call, userId);
  if (isNone(live)) return report(call, live);
  const plan = { action: `revoke every login of ${email}`, details: detailsOf(live) };
  if (!(await isConfirmed(call.context, call.command, plan))) return;
  await users.revokeLogins(call.actor, userId);
  report(call, live);
}

async function revokeOthers(call: Call, userId: string, sessionId: string): Promise<void> {
  const { domain, actor, context, command } = call;
  const { email } = domain.identity.users.show(actor.organizationId, userId);
  const kept = domain.access.ownLogins.keptSession({ userId, sessionId });
  const plan = {
    action: `revoke every login of ${email} but one`,
    details: [`Stays signed in: ${sentenceOf(kept, "")}`, "All workstations must sign in again."],
  };
  if (!(await isConfirmed(context, command, plan))) return;
  report(call, await domain.access.ownLogins.endOthersOf(actor, { userId, sessionId }));
}

async function revokeAll(call: Call): Promise<void> {
  const live = liveLogins(call);
  if (isNone(live)) return report(call, live);
  const details = [...detailsOf(live), "Every user must sign in again, in browsers and on workstations."];
  const plan = { action: "revoke every login of every user", details };
  if (!(await isConfirmed(call.context, call.command, plan))) return;
  const ended = await call.domain.access.logins.revokeEverything(call.actor);
  report(call, { ...ended, passwordLinks: live.passwordLinks });
}

/** What ends with the logins of a user or of everybody. */
interface Ends extends Counts {
  /** that nobody has used; they would open the account again */
  passwordLinks: number;
}

const linksText = ({ passwordLinks: count }: Ends): string[] =>
  count === 0 ? [] : [`${count} password link${count === 1 ? "" : "s"}`];

const detailsOf = (ends: Ends): string[] => [
  `${[countsText(ends), ...linksText(ends)].filter(Boolean).join(", ")} in use now.`,
];

function liveLogins(call: Call, userId?: string): Ends {
  const items = readLogins(call, { userId });
  const count = (kind: LoginView["kind"]): number => items.filter((login) => login.kind === kind).length;
  return {
    loginSessions: count("login_session"),
    grants: count("grant"),
    deviceLogins: count("device_login"),
    passwordLinks: call.domain.identity.passwordLinks.countOpen(userId),
  };
}

const isNone = (counts: Counts & Partial<Ends>): boolean =>
  Object.values(counts).every((count) => count === 0);

function report({ output }: Call, given: Counts & Partial<Ends>): void {
  const ended = { passwordLinks: 0, ...given };
  const { loginSessions, grants, deviceLogins } = ended;
  output.result(
    { changed: !isNone(ended), login_sessions: loginSessions, grants, device_logins: deviceLogins },
    isNone(ended)
      ? "unchanged: there are no active logins"
      : `revoked ${[countsText(ended), ...linksText(ended)].filter(Boolean).join(", ")}`,
  );
}

const wordOf = ({ kind }: LoginView): string => kind.replaceAll("_", " ");

const sentenceOf = (login: LoginView, alsoEnded = ", and the grants that it approved"): string => {
  const { id, kind, user, address } = login;
  const whose = user === null ? "" : ` of ${user.email}`;
  const where = address === null ? "" : ` from ${address}`;
  const also = kind === "login_session" ? alsoEnded : "";
  return `${wordOf(login)} ${id}${whose}${where}${also}`;
};

const unclearExcept = (): DomainError =>
  new DomainError("invalid", "usage.what_to_keep", "--except belongs to --user", {
    hint: "run: quartermaster logins revoke --help",
  });

const unclear = (): DomainError =>
  new DomainError("invalid", "usage.what_to_revoke", "name either an id, --user USER or --all", {
    hint: "run: quartermaster logins revoke --help",
  });
