// `scim tokens create`, `list` and `revoke`. A new token is printed once, with nothing else on stdout.

import { tokenDocument } from "../../../src/domain/scim/tokens/token-document.ts";
import type { ScimTokenView } from "../../../src/domain/scim/tokens/tokens.ts";
import { DAY_MS, parseExactTime, toRfc3339 } from "../../../src/platform/clock.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { dateOf } from "../../output/details.ts";
import type { Column } from "../../output/table.ts";

const DAYS = /^(\d{1,6})d$/;

/**
 * @param text `90d`, `2027-06-30` (the beginning of that day in UTC) or an RFC 3339 time
 * @returns UTC milliseconds; undefined for undefined
 * @throws DomainError `usage.not_a_time`
 */
function parseExpiry(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const days = DAYS.exec(text)?.[1];
  if (days !== undefined) return nowMs + Number(days) * DAY_MS;
  const timeMs = parseExactTime(text);
  if (timeMs !== undefined) return timeMs;
  throw new DomainError("invalid", "usage.not_a_time", "--expires must be days from now, a date or a time", {
    hint: "for example: --expires 90d, --expires 2027-06-30 or --expires 2027-06-30T12:00:00Z",
  });
}

export async function create({
  domain,
  actor,
  context,
  output,
  text,
  args: [label = ""],
}: Call): Promise<void> {
  const expiresAtMs = parseExpiry(text("expires"), context.clock.nowMs());
  const { token, view } = await domain.scim.tokens.create(actor, {
    label,
    expiresAtMs,
    profile: text("profile") ?? "",
  });
  const until = expiresAtMs === undefined ? "until it is revoked" : `until ${toRfc3339(expiresAtMs)}`;
  const warning = `the SCIM token ${view.label} is shown only once; it permits changes to users and groups ${until}`;
  output.secret(token, { name: "token", warning, more: { scim_token: tokenDocument(view) } });
}

const TOKEN_COLUMNS: readonly Column<ScimTokenView>[] = [
  { header: "LABEL", value: ({ label }) => label },
  { header: "STATE", value: ({ state }) => state },
  { header: "PROFILE", value: ({ profile }) => profile },
  { header: "TOKEN", value: ({ prefix }) => (prefix === null ? null : `${prefix}…`) },
  { header: "LAST USED", value: ({ lastUsedAtMs }) => dateOf(lastUsedAtMs) },
  { header: "EXPIRES", value: ({ expiresAtMs }) => dateOf(expiresAtMs) },
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "CREATED", value: ({ createdAtMs }) => dateOf(createdAtMs), isWide: true },
  { header: "CREATED BY", value: ({ createdBy }) => createdBy, isWide: true },
  { header: "REVOKED", value: ({ revokedAtMs }) => dateOf(revokedAtMs), isWide: true },
];

export async function list({ domain, actor, output, has }: Call): Promise<void> {
  const tokens = domain.scim.tokens.list(actor.organizationId);
  const shown = has("all") ? tokens : tokens.filter(({ state }) => state !== "revoked");
  if (shown.some(({ state }) => state === "unset")) output.note(UNSET);
  output.list(shown, { columns: TOKEN_COLUMNS, json: tokenDocument, empty: "no SCIM tokens" });
}

export async function revoke(call: Call): Promise<void> {
  const {
    domain,
    actor,
    context,
    command,
    output,
    args: [reference = ""],
  } = call;
  const { tokens } = domain.scim;
  const token = tokens.checkRevoke(actor, reference);
  const plan = { action: `revoke the SCIM token ${token.label}`, details: [useOf(token), REFUSED_NEXT] };
  if (token.state !== "revoked" && !(await isConfirmed(context, command, plan))) return;
  const { changed, token: after } = await tokens.revoke(actor, token.id);
  const done = changed ? `revoked the SCIM token ${after.label}` : `unchanged: ${after.label} is revoked`;
  output.result({ changed, scim_token: tokenDocument(after) }, done);
}

const UNSET =
  "a service uses or used a token from its configuration; pass that configuration file with --config to show it";
const REFUSED_NEXT =
  "The next request with this token is refused. Users and groups that it provisioned stay.";

const useOf = ({ lastUsedAtMs }: ScimTokenView): string =>
  lastUsedAtMs === null ? "It has never been used." : `It was last used at ${toRfc3339(lastUsedAtMs)}.`;
