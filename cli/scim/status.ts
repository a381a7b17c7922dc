// `scim status`: one screen. Warnings are on stderr, or in the document under `--json`.
import type { ScimTokenView } from "../../src/domain/scim/tokens.ts";
import { dateOf, detailsText, type Fact } from "../details.ts";
import type { Call } from "../in-domain.ts";
import { tokenDocument } from "./view.ts";

export async function status({ domain, actor, output }: Call): Promise<void> {
  const { users, suspendedUsers, groups, tokens, warnings } = domain.scim.status(actor.organizationId);
  const document = {
    users,
    suspended_users: suspendedUsers,
    groups,
    tokens: tokens.map(tokenDocument),
    warnings,
  };
  const facts: Fact[] = [
    ["users", users],
    ["suspended users", suspendedUsers],
    ["groups", groups],
    ...tokens.map((token): Fact => [`last request of ${nameOf(token)}`, dateOf(token.lastUsedAtMs)]),
  ];
  output.result(document, detailsText(facts));
  if (!output.isJson) for (const warning of warnings) output.warning(warning);
}

const nameOf = ({ label, state }: ScimTokenView): string =>
  state === "active" ? label : `${label} (${state})`;
