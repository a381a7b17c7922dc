// Removing and revoking workstations in the console: one, those selected on a page, or all that match the filters. A filter is worked
// off in slices, one request each.
import { BATCH_ROWS } from "../../../domain/clients/limits.ts";
import type { BulkRow, Selection } from "../../../domain/clients/service.ts";
import type { Domain } from "../../../domain/domain.ts";
import { PER_PAGE_MAX } from "../../../domain/shared/page.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Done } from "../../console/console.ts";
import {
  confirmMany,
  confirmOne,
  type Progress,
  resultPage,
  unclearPage,
} from "../../console/fleet/action-pages.tsx";
import { CLIENTS_PATH } from "../../console/fleet/client-list.tsx";
import { clientName } from "../../console/fleet/client-page.tsx";
import { ACTS, type Act } from "../../console/fleet/words.ts";
import type { ConsolePage } from "../../console/frame/frame.tsx";
import type { Fields } from "../../console/frame/refusals.tsx";
import { valuesOf } from "../../console/list/address.ts";
import { TYPED_FIELD } from "../../console/parts/form.tsx";
import type { Reader } from "../../console/reader.ts";
import { fleetFilter } from "./fleet-queries.ts";

/** Refused ids that the pages of one action keep; a filter rarely has any. */
const REFUSED_KEPT = 100;

interface Asked {
  act: Act;
  ids: readonly string[];
  /** query of the list; undefined for ids */
  filter: string | undefined;
}

const actIn = (text: string | null | undefined): Act | undefined =>
  text === "remove" || text === "revoke" ? text : undefined;

const idsIn = (text: string | undefined): string[] => (text ?? "").split(",").filter((id) => id !== "");

/** @returns what the form or the address asks for; a page that says what is missing */
function askedIn(given: {
  act: string | null | undefined;
  ids: readonly string[];
  all: string | null | undefined;
  filter: string | null | undefined;
}): Asked | ConsolePage {
  const act = actIn(given.act);
  if (!act) return unclearPage("Choose whether to remove or to revoke workstations.");
  if (given.all === "1") return { act, ids: [], filter: given.filter ?? "" };
  if (given.ids.length === 0) return unclearPage("Select at least one workstation of the list.");
  if (given.ids.length > PER_PAGE_MAX)
    return unclearPage(`Select at most ${PER_PAGE_MAX} workstations, or all that match the filters.`);
  return { act, ids: [...new Set(given.ids)], filter: undefined };
}

/** @throws DomainError `client.invalid` for a filter that means nothing */
async function selectionOf(domain: Domain, reader: Reader, { ids, filter }: Asked): Promise<Selection> {
  if (filter === undefined) return { ids };
  const values = valuesOf(new URL(`${CLIENTS_PATH}?${filter.replace(/^\?/, "")}`, reader.url));
  const { query, problems } = await fleetFilter(domain, values, reader);
  if (problems.length > 0)
    throw new DomainError("invalid", "client.invalid", problems.map(({ detail }) => detail).join("; "), {
      problems,
    });
  return { filter: query, text: filter.replace(/^\?/, "") };
}

/** @returns the question before the action */
export async function confirmAction(domain: Domain, reader: Reader): Promise<ConsolePage> {
  const { searchParams: query } = reader.url;
  const asked = askedIn({
    act: query.get("act"),
    ids: query.getAll("id"),
    all: query.get("all"),
    filter: query.get("filter"),
  });
  if ("title" in asked) return asked;
  const [id] = asked.ids;
  if (id !== undefined && asked.ids.length === 1) {
    const { inventory } = domain.clients;
    const client = inventory.byId(reader.organizationId, id);
    const isOwn = reader.actor.credential === `login_session:${client.loginSessionId}`;
    return confirmOne({ act: asked.act, client, companions: inventory.companions(client), isOwn });
  }
  return await confirmAgain(domain, reader, asked);
}

async function confirmAgain(
  domain: Domain,
  reader: Reader,
  asked: Asked,
  error?: string,
): Promise<ConsolePage> {
  const { organizationId, language } = reader;
  const selection = await selectionOf(domain, reader, asked);
  const count = await domain.clients.bulkRemovals.count(organizationId, selection);
  if (count === 0) return unclearPage("No workstation matches these filters any more.");
  return confirmMany({ ...asked, language, count, notSeenForDays: onlyDaysOf(selection), error });
}

/** @returns the days of a filter that has nothing else */
function onlyDaysOf({ filter = {} }: Selection): number | undefined {
  const { notSeenForDays, ...others } = filter;
  return Object.values(others).every((value) => value === undefined) ? notSeenForDays : undefined;
}

/** Does what the form asks for. */
export async function runAction(domain: Domain, reader: Reader, fields: Fields): Promise<Done | ConsolePage> {
  const asked = askedIn({ act: fields.act, ids: idsIn(fields.ids), all: fields.all, filter: fields.filter });
  if ("title" in asked) return asked;
  if (asked.filter !== undefined)
    return await runFilter(domain, reader, { ...asked, filter: asked.filter }, fields);
  const [id] = asked.ids;
  if (id !== undefined && asked.ids.length === 1 && fields.retry === undefined)
    return await runOne(domain, reader, { act: asked.act, id });
  const bulk = { removal: asked.act, selection: { ids: asked.ids }, whole: asked.ids.length };
  const rows = await domain.clients.bulkRemovals.slice(reader.actor, bulk);
  const progress = progressAfter(
    rows,
    { done: 0, unchanged: 0, refused: [], whole: rows.length, left: rows.length, filter: "" },
    rows.length,
  );
  return resultPage({ act: asked.act, rows, progress, language: reader.language });
}

async function runOne(
  { clients }: Domain,
  { actor }: Reader,
  { act, id }: { act: Act; id: string },
): Promise<Done> {
  const name = clientName(clients.inventory.byId(actor.organizationId, id));
  await clients.removals[act](actor, id);
  return { to: CLIENTS_PATH, notice: `${name} is ${ACTS[act].past}.` };
}

async function runFilter(
  domain: Domain,
  reader: Reader,
  asked: Asked & { filter: string },
  fields: Fields,
): Promise<ConsolePage> {
  const { bulkRemovals } = domain.clients;
  const { actor, organizationId, language } = reader;
  const selection = await selectionOf(domain, reader, asked);
  const before = progressIn(fields, asked.filter);
  const isFirst = before.left === before.whole;
  if (isFirst) {
    if (fields[TYPED_FIELD]?.trim() !== String(before.whole))
      return await confirmAgain(domain, reader, asked, `Type the number ${before.whole} to confirm.`);
    const count = await bulkRemovals.count(organizationId, selection);
    if (count > before.whole)
      return await confirmAgain(
        domain,
        reader,
        asked,
        `There are ${count} workstations now, not ${before.whole}. Confirm the new number.`,
      );
  }
  const rowsMax = Math.min(BATCH_ROWS, before.left);
  const bulk = { removal: asked.act, selection, rowsMax, ...(isFirst && { whole: before.whole }) };
  const rows = await bulkRemovals.slice(actor, bulk);
  const progress = progressAfter(rows, before, rowsMax);
  return resultPage({ act: asked.act, rows, progress, language });
}

const count = (text: string | undefined): number => (/^\d{1,9}$/.test(text ?? "") ? Number(text) : 0);

/** @returns how far the earlier slices have come, which the form tells */
function progressIn(fields: Fields, filter: string): Progress {
  const whole = count(fields.expected);
  const left = fields.left === undefined ? whole : Math.min(count(fields.left), whole);
  const refused = idsIn(fields.refused).slice(0, REFUSED_KEPT);
  return { done: count(fields.done), unchanged: count(fields.unchanged), refused, whole, left, filter };
}

/** @param asked rows that the slice was asked for; fewer mean that no more match */
function progressAfter(rows: readonly BulkRow[], before: Progress, asked: number): Progress {
  const having = (wanted: BulkRow["result"]) => rows.filter(({ result }) => result === wanted);
  return {
    ...before,
    done: before.done + having("done").length,
    unchanged: before.unchanged + having("unchanged").length,
    refused: [...before.refused, ...having("refused").map(({ id }) => id)].slice(0, REFUSED_KEPT),
    left: rows.length < asked ? 0 : before.left - rows.length,
  };
}
