// `keys ensure`, `keys rotate` and `keys revoke`. This process creates keys itself, under the same lease as the service. The service
// carries out revocations at the gateway.
import { keyDocument } from "../../../src/domain/gateway/administration/key-document.ts";
import { ROTATION_OVERLAP_MS } from "../../../src/domain/gateway/model.ts";
import type { User } from "../../../src/domain/identity/service.ts";
import { MINUTE_MS } from "../../../src/platform/clock.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { warnOfPendingRevocations } from "./view.ts";

export async function ensure(call: Call): Promise<void> {
  const { domain, actor, output, has } = call;
  const user = find(call);
  const { changed, key } = await domain.gateway.administration.ensure({
    actor,
    user,
    manual: has("manual"),
  });
  if (key.problem !== null) output.warning(`${user.email} has a usable key, but ${key.problem}`);
  const text = changed ? `${user.email} has a new key, ${key.alias}` : `unchanged: ${user.email} has a key`;
  output.result({ changed, key: keyDocument(key) }, text);
}

export async function rotate(call: Call): Promise<void> {
  const { domain, actor, context, command, output } = call;
  const { administration } = domain.gateway;
  const user = find(call);
  administration.assertMayHaveKey(user);
  const action = `replace the gateway key of ${user.email}`;
  const minutes = ROTATION_OVERLAP_MS / MINUTE_MS;
  const details = [`The old key keeps working for ${minutes} minutes, and is then revoked at the gateway.`];
  if (!(await isConfirmed(context, command, { action, details }))) return;
  const { key } = await administration.rotate({ actor, user });
  output.result({ changed: true, key: keyDocument(key) }, `${user.email} has a new key, ${key.alias}`);
  warnOfPendingRevocations(call);
}

export async function revoke(call: Call): Promise<void> {
  const { domain, actor, context, command, output } = call;
  const { directory, keys } = domain.gateway;
  const user = find(call);
  const exists = directory.show(user).state !== "missing";
  const action = `revoke the gateway key of ${user.email}`;
  const details = ["The gateway revokes the key too.", "The user can request a new key."];
  if (exists && !(await isConfirmed(context, command, { action, details }))) return;
  const changed = await keys.revoke({ actor, user });
  const document = { changed, key: keyDocument(directory.show(user)) };
  const text = changed ? `revoked the gateway key of ${user.email}` : `unchanged: ${user.email} has no key`;
  output.result(document, text);
  warnOfPendingRevocations(call);
}

const find = ({ domain, actor, args }: Call): User =>
  domain.identity.users.find(actor.organizationId, args[0] ?? "");
