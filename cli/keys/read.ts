// `keys list` and `keys show`: what is stored. The gateway is not asked.
import type { Call } from "../in-domain.ts";
import { readPages } from "../pages.ts";
import { STORED_STATES } from "./states.ts";
import { KEY_COLUMNS, keyDocument, keyText, warnOfWhatWaits } from "./view.ts";

export async function list(call: Call): Promise<void> {
  const { domain, actor, output, text, has } = call;
  const { administration, mode, figures } = domain.gateway;
  const state = STORED_STATES.find((name) => name === text("state"));
  const { items, total } = readPages(call, (query) =>
    administration.list(actor.organizationId, { ...query, state, withProblem: has("problems") }),
  );
  warnOfWhatWaits(call);
  const more = { total, enabled: mode !== undefined, revocations_pending: figures().revocationsPending };
  output.list(items, { columns: KEY_COLUMNS, json: keyDocument, empty: "no gateway keys" }, more);
}

export async function show(call: Call): Promise<void> {
  const { domain, actor, output, args } = call;
  const { administration } = domain.gateway;
  const user = domain.identity.users.find(actor.organizationId, args[0] ?? "");
  const document = {
    ...keyDocument(administration.show(user)),
    revocations_pending: administration.revocationsOf(user),
  };
  warnOfWhatWaits(call);
  output.result(document, keyText(document));
}
