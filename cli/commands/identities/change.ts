// The link of one user, by `identities create` and `identities remove`. Both ask for confirmation: a link lets a person at the
// provider use the account, and removing it ends the logins. The checks of the domain run before the question, so that a dry
// run fails like the real command.
import type { User } from "../../../src/domain/identity/model.ts";
import { toIdentity } from "../../../src/domain/sso/identities/identity-document.ts";
import type { NewIdentity } from "../../../src/domain/sso/service.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { issuerFor } from "./issuer.ts";

export async function link(call: Call): Promise<void> {
  const { domain, actor, context, command, output } = call;
  const { identities } = domain.sso;
  const user = find(call);
  const wanted = { userId: user.id, issuer: issuerFor(call, "issuer"), subject: call.text("subject") ?? "" };
  const known = identities.list({ userId: user.id, issuer: wanted.issuer, limit: 1 }).items[0];
  if (known?.subject === wanted.subject) {
    const text = `unchanged: ${user.email} is linked to this subject`;
    return output.result({ changed: false, identity: toIdentity(known) }, text);
  }
  identities.checkCreate(actor, wanted);
  const action = `link ${user.email} to subject ${wanted.subject} at ${wanted.issuer}`;
  if (!(await isConfirmed(context, command, { action, details: linkDetails(call, user, wanted) }))) return;
  const identity = await identities.create(actor, wanted);
  const text = `linked ${user.email} to subject ${wanted.subject} at ${wanted.issuer}`;
  output.result({ changed: true, identity: toIdentity(identity) }, text);
}

export async function remove(call: Call): Promise<void> {
  const { domain, actor, context, command, output } = call;
  const { identities } = domain.sso;
  const user = find(call);
  const wanted = { userId: user.id, issuer: issuerFor(call, "issuer") };
  identities.checkRemove(actor, wanted);
  const action = `unlink ${user.email} from ${wanted.issuer}`;
  const details = [
    "All logins of this user end immediately, on every workstation.",
    "The next sign-in of this person at the provider is treated as the first one.",
    "A prepared move of this user to another provider is canceled.",
  ];
  if (!(await isConfirmed(context, command, { action, details }))) return;
  await identities.remove(actor, wanted);
  const document = { changed: true, user: { id: user.id, email: user.email }, issuer: wanted.issuer };
  output.result(document, `unlinked ${user.email} from ${wanted.issuer}; the user's logins have ended`);
}

function linkDetails({ domain }: Call, user: User, { issuer }: NewIdentity): string[] {
  return [
    `The person with this subject there signs in here as ${user.email}.`,
    ...(user.role === "admin" ? ["Warning: this user is an administrator."] : []),
    ...(user.status === "suspended" ? ["The user is suspended, and cannot sign in until resumed."] : []),
    ...elsewhere(domain.sso.settings()?.issuer, issuer),
  ];
}

/** @returns the line of the plan about a link that cannot be used now */
function elsewhere(configured: string | undefined, issuer: string): string[] {
  if (configured === undefined)
    return ["Warning: no identity provider is configured, so nobody signs in there."];
  return issuer === configured ? [] : [`Warning: people sign in at ${configured}, not at this issuer.`];
}

const find = ({ domain, actor, args: [reference = ""] }: Call): User =>
  domain.identity.users.find(actor.organizationId, reference);
