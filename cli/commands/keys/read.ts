// `keys list` and `keys show`: print the stored state without contacting the gateway.

import { keyDocument } from "../../../src/domain/gateway/administration/key-document.ts";
import { STORED_STATES } from "../../../src/domain/gateway/administration/stored-states.ts";
import { parseDuration } from "../../../src/platform/clock.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { printPages } from "../../output/list-pages.ts";
import { KEY_COLUMNS, keyText, warnOfPendingRevocations } from "./view.ts";

/**
 * @param text `7d`, `12h` or `30m`
 * @returns milliseconds; undefined for undefined
 * @throws DomainError `usage.not_a_duration`
 */
function expiresWithin(text: string | undefined): number | undefined {
  const withinMs = text === undefined ? undefined : parseDuration(text);
  if (text === undefined || withinMs !== undefined) return withinMs;
  throw new DomainError("invalid", "usage.not_a_duration", "--expires-within must be a time such as 7d", {
    hint: "for example: --expires-within 7d, --expires-within 12h or --expires-within 30m",
  });
}

export async function list(call: Call): Promise<void> {
  const { domain, actor, text, has } = call;
  const { directory, mode, figures } = domain.gateway;
  const state = STORED_STATES.find((name) => name === text("state"));
  const wanted = {
    userId: userIdOf(call),
    state,
    withProblem: has("problems"),
    expiresWithinMs: expiresWithin(text("expiresWithin")),
  };
  warnOfPendingRevocations(call);
  const listing = {
    columns: KEY_COLUMNS,
    json: keyDocument,
    empty: "no gateway keys",
    more: { enabled: mode !== undefined, revocations_pending: figures().revocationsPending },
  };
  await printPages(
    call,
    (query, after) => directory.list(actor.organizationId, { ...query, ...wanted, after }),
    listing,
  );
}

/** @returns the id of the user that `--user` names; undefined without the option */
export function userIdOf({ domain, actor, text }: Call): string | undefined {
  const reference = text("user");
  return reference === undefined ? undefined : domain.identity.users.find(actor.organizationId, reference).id;
}

export async function show(call: Call): Promise<void> {
  const { domain, actor, output, args } = call;
  const { directory } = domain.gateway;
  const user = domain.identity.users.find(actor.organizationId, args[0] ?? "");
  const document = {
    ...keyDocument(directory.show(user)),
    revocations_pending: directory.revocationsOf(user),
  };
  warnOfPendingRevocations(call);
  output.result(document, keyText(document));
}
