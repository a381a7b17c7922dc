// `users invite` and the verbs of `invitations`. A link is printed once, with nothing else on stdout.

import { originForLinks } from "../../../src/app/installation/origin.ts";
import type { InvitationWithToken } from "../../../src/domain/identity/invitations/invitation-form.ts";
import { type Invitation, invitationUrl, toAdminInvitation } from "../../../src/domain/identity/model.ts";
import { toRfc3339 } from "../../../src/platform/clock.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { printPages } from "../../output/list-pages.ts";
import { invitationColumns, invitationText } from "./view.ts";

export async function invite(call: Call): Promise<void> {
  const [email = ""] = call.args;
  const origin = originFor(call);
  const made = await call.domain.identity.invitations.create(call.actor, {
    email,
    role: call.text("role") ?? "",
  });
  showLink(call, made, origin);
}

export async function list(call: Call): Promise<void> {
  const { domain, actor, text } = call;
  const filter = { role: text("role"), status: text("status") };
  const { invitations } = domain.identity;
  const listing = {
    columns: invitationColumns(nowOf(call)),
    json: (one: Invitation) => documentOf(call, one),
    empty: "no invitations",
  };
  await printPages(
    call,
    (query, after) => invitations.list(actor.organizationId, { ...filter, ...query, after }),
    listing,
  );
}

export async function show(call: Call): Promise<void> {
  const invitation = find(call);
  call.output.result(documentOf(call, invitation), invitationText(invitation, nowOf(call)));
}

export async function cancel(call: Call): Promise<void> {
  const { domain, actor, context, command, output } = call;
  const invitation = find(call);
  const { id, email, status } = invitation;
  const document = (changed: boolean) => ({ changed, invitation: documentOf(call, find(call)) });
  if (status === "canceled")
    return output.result(document(false), `unchanged: the invitation of ${email} is canceled`);
  const plan = { action: `cancel the invitation of ${email}`, details: ["Its link stops working."] };
  if (status === "pending" && !(await isConfirmed(context, command, plan))) return;
  await domain.identity.invitations.cancel(actor, id);
  output.result(document(true), `canceled the invitation of ${email}`);
}

export async function resend(call: Call): Promise<void> {
  const invitation = await call.domain.identity.invitations.resend(call.actor, find(call).id);
  const { email, expiresAtMs } = invitation;
  const text = `renewed the invitation of ${email} until ${toRfc3339(expiresAtMs)}; the link is the same`;
  call.output.result({ changed: true, invitation: documentOf(call, invitation) }, text);
}

export async function regenerate(call: Call): Promise<void> {
  const { id, email, status } = find(call);
  const origin = originFor(call);
  const plan = {
    action: `give the invitation of ${email} a new link`,
    details: ["The old link stops working."],
  };
  // Does not ask about a closed invitation, because the domain refuses to renew it.
  if (status === "pending" && !(await isConfirmed(call.context, call.command, plan))) return;
  showLink(call, await call.domain.identity.invitations.regenerate(call.actor, id), origin);
}

function showLink(call: Call, { invitation, token }: InvitationWithToken, origin: string): void {
  const { email, expiresAtMs } = invitation;
  const warning = `anyone with this link can sign up as ${email}; it is shown only once and works until ${toRfc3339(expiresAtMs)}`;
  const more = { invitation: documentOf(call, invitation) };
  call.output.secret(invitationUrl(origin, token), { name: "invitation_url", warning, more });
}

/** Called before a link is created, because a link without an origin would be lost. */
export function originFor({ config }: Call): string {
  const origin = originForLinks(config);
  if (origin !== undefined) return origin;
  throw new DomainError(
    "invalid",
    "config.public_url_missing",
    "the link needs the origin of the service: no service runs on this data directory, and server.public_url is not set",
    {
      hint: "start the service, add --server-public-url https://…, or pass its configuration file with --config",
    },
  );
}

const find = ({ domain, actor, args: [id = ""] }: Call): Invitation =>
  domain.identity.invitations.show(actor.organizationId, id);

const nowOf = ({ context }: Call): number => context.clock.nowMs();

const documentOf = (call: Call, invitation: Invitation) => toAdminInvitation(invitation, nowOf(call));
