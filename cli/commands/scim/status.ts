// `scim status`: one screen with the latest refused requests; `--json` prints all stored ones. Warnings go to stderr,
// or into the document under `--json`.
import type { Refusal } from "../../../src/domain/scim/status/refusals.ts";
import { statusDocument } from "../../../src/domain/scim/status/status-document.ts";
import type { ScimTokenView } from "../../../src/domain/scim/tokens/tokens.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { dateOf, detailsText, type Fact } from "../../output/details.ts";
import { type Column, tableText } from "../../output/table.ts";

/** Refused requests shown on the screen. */
const SHOWN_MAX = 10;

const REFUSAL_COLUMNS: readonly Column<Refusal>[] = [
  { header: "REFUSED", value: ({ atMs }) => new Date(atMs) },
  { header: "BY", value: ({ actor }) => actor },
  { header: "REQUEST", value: ({ method, route }) => `${method} ${route}` },
  { header: "STATUS", value: ({ status }) => status },
  { header: "TYPE", value: ({ scimType }) => scimType },
  { header: "DETAIL", value: ({ detail }) => detail },
];

export async function status({ domain, actor, output, context }: Call): Promise<void> {
  const found = domain.scim.status(actor.organizationId);
  const { users, suspendedUsers, groups, tokens, refusals, warnings } = found;
  const facts: Fact[] = [
    ["users", users],
    ["suspended users", suspendedUsers],
    ["groups", groups],
    ...tokens.map((token): Fact => [`last request of ${nameOf(token)}`, dateOf(token.lastUsedAtMs)]),
  ];
  const style = { wide: false, columns: undefined, nowMs: context.clock.nowMs() };
  const table = tableText(refusals.slice(0, SHOWN_MAX), REFUSAL_COLUMNS, style);
  output.result(
    statusDocument(found),
    [detailsText(facts), ...(refusals.length > 0 ? [table] : [])].join("\n\n"),
  );
  if (!output.isJson) for (const warning of warnings) output.warning(warning);
}

const nameOf = ({ label, state }: ScimTokenView): string =>
  state === "active" ? label : `${label} (${state})`;
