// `clients list` and `clients show`.

import { toClientDocument, toClientSummary } from "../../../src/domain/clients/inventory/documents.ts";
import type { ClientFilterQuery, ClientQuery, ClientView } from "../../../src/domain/clients/service.ts";
import { type DayRangeQuery, readTimeRange } from "../../../src/domain/shared/day-range.ts";
import { DomainError, type Problem } from "../../../src/platform/errors.ts";
import { runSynchronously } from "../../../src/platform/steps.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { printPages, readPages } from "../../output/list-pages.ts";
import { CLIENT_COLUMNS, clientText, SUMMARY_COLUMNS } from "./view.ts";

export async function list(call: Call): Promise<void> {
  const { domain, actor, text, has } = call;
  const wanted: ClientQuery = { ...filterOf(call), sort: text("sort") };
  const more = { current_revision: domain.governance.revisions.current(actor.organizationId)?.id ?? null };
  const { inventory } = domain.clients;
  const empty = "no workstations";
  if (has("summary")) {
    const summaries = (query: ClientQuery) =>
      runSynchronously(inventory.summaries(actor.organizationId, { ...wanted, ...query }));
    const listing = { columns: SUMMARY_COLUMNS, json: toClientSummary, empty, more };
    return await printPages(call, (query, after) => summaries({ ...query, after }), listing);
  }
  await printPages(
    call,
    (query, after) => inventory.list(actor.organizationId, { ...wanted, ...query, after }),
    {
      columns: CLIENT_COLUMNS,
      json: toClientDocument,
      empty,
      more,
    },
  );
}

const DAYS = /^([1-9]\d{0,4})d$/;

/**
 * @param text `90d`, 1 to 99999 days; 0 days would match every client
 * @returns days; undefined for undefined
 * @throws DomainError `usage.not_days`
 */
function parseStaleDays(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const days = DAYS.exec(text)?.[1];
  if (days !== undefined) return Number(days);
  throw new DomainError("invalid", "usage.not_days", "--stale must be a number of days, at least 1d", {
    hint: "for example: --stale 90d",
  });
}

/** @throws DomainError `usage.not_a_time` */
function lastSeenOf({ text }: Pick<Call, "text">): DayRangeQuery {
  const range = { from: text("lastSeenFrom"), to: text("lastSeenTo") };
  const problems: Problem[] = [];
  readTimeRange(range, { name: "last_seen", problems });
  if (problems.length === 0) return range;
  const message = problems.map(({ detail }) => detail.replaceAll("last_seen_", "--last-seen-")).join("; ");
  throw new DomainError("invalid", "usage.not_a_time", message);
}

/** @returns the options that select workstations; undefined for those that were not given */
export function filterOf(call: Call): ClientFilterQuery {
  const { domain, actor, text, has } = call;
  const { organizationId } = actor;
  const [user, revision] = [text("user"), text("revision")];
  return {
    userId: user === undefined ? undefined : domain.identity.users.find(organizationId, user).id,
    health: text("health"),
    harness: text("harness"),
    revision:
      revision === undefined ? undefined : domain.governance.revisions.reportedId(organizationId, revision),
    clientVersion: text("clientVersion"),
    platform: text("platform"),
    notSeenForDays: parseStaleDays(text("stale")),
    stale: has("recent") ? "false" : undefined,
    lastSeen: lastSeenOf(call),
  };
}

export async function show({ domain, actor, output, context, args: [reference = ""] }: Call): Promise<void> {
  const client = domain.clients.inventory.find(actor.organizationId, reference);
  output.result(toClientDocument(client), clientText(client, context.clock.nowMs()));
}

/** @returns the matching clients, limited by the page options */
export const readClients = (
  { domain, actor, ...call }: Pick<Call, "domain" | "actor" | "text" | "output">,
  wanted: ClientQuery,
): { items: readonly ClientView[]; total: number } =>
  readPages(call, (query) => domain.clients.inventory.list(actor.organizationId, { ...wanted, ...query }));
