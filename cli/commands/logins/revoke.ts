// `logins revoke`: ends one login, all logins of a user with or without one exception, or all logins. A running server refuses
// their next request.
import { type EndedAccess, endedSummary, type LoginView } from "../../../src/domain/access/service.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { readLogins, userIdOf } from "./read.ts";
import { countsText } from "./view.ts";

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
  report(call, await call.domain.access.logins.revokeEverything(call.actor));
}

const detailsOf = (ends: EndedAccess): string[] => [`${countsText(ends)} in use now.`];

function liveLogins(call: Call, userId?: string): EndedAccess {
  const items = readLogins(call, { userId });
  const count = (kind: LoginView["kind"]): number => items.filter((login) => login.kind === kind).length;
  return {
    loginSessions: count("login_session"),
    grants: count("grant"),
    deviceLogins: count("device_login"),
    passwordLinks: call.domain.identity.passwordLinks.countOpen(userId),
  };
}

const isNone = (counts: EndedAccess): boolean => Object.values(counts).every((count) => count === 0);

const report = ({ output }: Call, ended: EndedAccess): void =>
  output.result(
    { changed: !isNone(ended), ...endedSummary(ended) },
    isNone(ended) ? "unchanged: there are no active logins" : `revoked ${countsText(ended)}`,
  );

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
