// `users create`, `users reset-password` and `users password-link`: the password is read from a file or stdin, generated and shown
// once, or chosen by the user at a link that is shown once.
import { passwordUrl, toAdminUser } from "../../../src/domain/identity/model.ts";
import { toPasswordLinkDocument } from "../../../src/domain/identity/password-links/password-links.ts";
import type { User } from "../../../src/domain/identity/service.ts";
import type { NewUserResult } from "../../../src/domain/identity/users/users.ts";
import type { Secret } from "../../../src/platform/secret.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { readSecret } from "../../input/secret-input.ts";
import { originFor } from "./invite.ts";

export async function create(call: Call): Promise<void> {
  const [email = ""] = call.args;
  const password = await givenPassword(call);
  const { users } = call.domain.identity;
  const made = await users.create(call.actor, { email, role: call.text("role") ?? "", password });
  const { user } = made;
  const isRestored = user.createdAtMs < user.updatedAtMs;
  warnIfUseless(call, user);
  if (isRestored) call.output.warning(restoredText(user));
  show(call, made, `${isRestored ? "restored" : "created"} ${user.email} (${user.role})`);
}

/** A removed account keeps what belongs to it, and its address may have another owner now. */
const restoredText = ({ email }: User): string =>
  `an account of ${email} was removed before; its captured sessions, workstations and package audiences belong to this user again. If this is another person: quartermaster users erase ${email}, then create the user again`;

export async function resetPassword(call: Call): Promise<void> {
  const { domain, actor, context, command } = call;
  const { users } = domain.identity;
  const user = users.find(actor.organizationId, call.args[0] ?? "");
  users.checkResetPassword(actor, user.id);
  const action = `replace the password of ${user.email}`;
  const details = ["The old password stops working.", "All logins of this user end immediately."];
  if (!(await isConfirmed(context, command, { action, details }))) return;
  const reset = await users.resetPassword(actor, user.id, await givenPassword(call));
  warnIfUseless(call, user);
  show(call, reset, `replaced the password of ${user.email}`);
}

/** With company sign-in, a password is used once: it proves that a local account belongs to the person who signs in. */
function warnIfUseless({ config, output }: Call, user: User): void {
  if (config.get("identity.mode") !== "oidc" || user.protected) return;
  output.warning(
    `with identity.mode oidc, ${user.email} cannot sign in with a password; it only links the account at the first sign-in at the identity provider`,
  );
}

export async function passwordLink(call: Call): Promise<void> {
  const { domain, actor, context, command, output } = call;
  const { users, passwordLinks } = domain.identity;
  const user = users.find(actor.organizationId, call.args[0] ?? "");
  passwordLinks.checkCreate(actor, user.id);
  const origin = originFor(call);
  const action = `give ${user.email} a link to set a new password`;
  const details = [
    "An earlier link of this user stops working.",
    "The password and the logins stay until the link is used.",
  ];
  if (!(await isConfirmed(context, command, { action, details }))) return;
  const link = await passwordLinks.create(actor, user.id);
  const more = toPasswordLinkDocument(link);
  const warning = `anyone with this link can sign in as ${user.email}; it is shown only once and works once, until ${more.expires_at}`;
  output.secret(passwordUrl(origin, link.token), { name: "password_url", warning, more });
}

async function givenPassword(call: Call): Promise<Secret | undefined> {
  const isGiven = call.text("passwordFile") !== undefined || call.has("passwordStdin");
  return isGiven ? await readSecret(call.context, call.command, "password") : undefined;
}

function show({ output }: Call, { user, generatedPassword }: NewUserResult, done: string): void {
  const document = { user: toAdminUser(user) };
  if (!generatedPassword) {
    output.result(document, done);
    return;
  }
  output.note(done);
  const warning = `the password of ${user.email} is shown only once: send it over a secure channel`;
  output.secret(generatedPassword, { name: "password", warning, more: document });
}
