// `clients list` and `clients show`.

import { toClientDocument, toClientSummary } from "../../../src/domain/clients/inventory/documents.ts";
import type { ClientFilterQuery, ClientQuery, ClientView } from "../../../src/domain/clients/service.ts";
import { DAY_MS } from "../../../src/platform/clock.ts";
import { DomainError } from "../../../src/platform/errors.ts";
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
 * @returns stale clients were last seen before this time, in UTC milliseconds; undefined for undefined
 * @throws DomainError `usage.not_days`
 */
function parseSeenBefore(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const days = DAYS.exec(text)?.[1];
  if (days !== undefined) return nowMs - Number(days) * DAY_MS;
  throw new DomainError("invalid", "usage.not_days", "--stale must be a number of days, at least 1d", {
    hint: "for example: --stale 90d",
  });
}

/** @returns the options that select workstations; undefined for those that were not given */
export function filterOf({ domain, actor, context, text }: Call): ClientFilterQuery {
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
    seenBeforeMs: parseSeenBefore(text("stale"), context.clock.nowMs()),
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
