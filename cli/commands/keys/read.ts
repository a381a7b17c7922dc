// `keys list` and `keys show`: print the stored state without contacting the gateway.
import { keyDocument } from "../../../src/domain/gateway/administration/key-document.ts";
import { STORED_STATES } from "../../../src/domain/gateway/administration/stored-states.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { printPages } from "../../output/list-pages.ts";
import { expiresWithin } from "./expiry.ts";
import { KEY_COLUMNS, keyText, warnOfPendingRevocations } from "./view.ts";

export async function list(call: Call): Promise<void> {
  const { domain, actor, text, has } = call;
  const { directory, mode, figures } = domain.gateway;
  const state = STORED_STATES.find((name) => name === text("state"));
  const wanted = {
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
