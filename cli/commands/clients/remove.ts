// `clients remove` and `clients revoke`: one client, several named ones, or all that match a filter. A running server
// refuses the next request of a revoked client.

import { toClientDocument } from "../../../src/domain/clients/inventory/documents.ts";
import type { ClientFilterQuery, ClientView, RemovalKind } from "../../../src/domain/clients/service.ts";
import { DAY_MS } from "../../../src/platform/clock.ts";
import { countText } from "../../../src/platform/count-text.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { nameList } from "../../../src/platform/text/name-list.ts";
import {
  type BulkSelection,
  filterWords,
  NAMED_MAX,
  requireOneSelection,
  runBulk,
  searchOf,
} from "../../bulk.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { ageText } from "../../output/age.ts";
import { filterOf, readClients } from "./read.ts";
import { nameOf } from "./view.ts";

export const remove = (call: Call): Promise<void> => removeClients(call, "remove");
export const revoke = (call: Call): Promise<void> => removeClients(call, "revoke");

async function removeClients(call: Call, verb: RemovalKind): Promise<void> {
  const filter = { ...filterOf(call), q: searchOf(call) };
  const { notSeenForDays: days } = filter;
  const references = call.args;
  const [reference] = references;
  const words = filterWords(call, FILTERS);
  requireOneSelection(
    call,
    { references, filters: words },
    {
      reason: "usage.which_clients",
      nothing: "name workstations, or select them with filters such as --stale DAYS, or with --all",
      command: `clients ${verb}`,
    },
  );
  if (reference !== undefined && references.length === 1) return removeOne(call, verb, reference);
  if (days !== undefined && filterWords(call, [UNSEEN]) === words) return removeUnseen(call, verb, days);
  const { organizationId } = call.actor;
  const ids = references.map((name) => call.domain.clients.inventory.find(organizationId, name).id);
  await removeMany(call, verb, ids.length > 0 ? { ids } : { filter, text: words });
}

const UNSEEN = "stale";
/** Options that select workstations. */
const FILTERS = [
  "q",
  "user",
  "health",
  "harness",
  "revision",
  "clientVersion",
  "platform",
  UNSEEN,
  "recent",
  "lastSeenFrom",
  "lastSeenTo",
];

async function removeMany(
  call: Call,
  verb: RemovalKind,
  chosen: BulkSelection<ClientFilterQuery>,
): Promise<void> {
  const { actor, domain } = call;
  const { bulkRemovals } = domain.clients;
  await runBulk<ClientFilterQuery>(call, {
    chosen,
    nouns: ["workstation", "workstations"],
    action: (workstations) => `${verb} ${workstations}${verb === "remove" ? " from the inventory" : ""}`,
    details: [CONSEQUENCE[verb]],
    done: (workstations) => `${DONE[verb]} ${workstations}`,
    count: (selection) => bulkRemovals.count(actor.organizationId, selection),
    slice: (slice) => bulkRemovals.slice(actor, { removal: verb, ...slice }),
  });
}

const DONE = { remove: "removed", revoke: "revoked" } as const;

async function removeOne(call: Call, verb: RemovalKind, reference: string): Promise<void> {
  const { domain, actor, output, context, command } = call;
  const { removals } = domain.clients;
  const client = findUnlessRemoved(call, verb, reference);
  if (!client)
    return output.result(
      { changed: false, id: reference },
      `unchanged: this workstation is already ${DONE[verb]}`,
    );
  const action = actionOn(verb, 1);
  const details = [sentenceOf(client, context.clock.nowMs()), ...consequences(call, verb, client)];
  if (!(await isConfirmed(context, command, { action, details }))) return;
  await removals[verb](actor, client.id);
  output.result({ changed: true, client: toClientDocument(client) }, `${DONE[verb]} ${nameOf(client)}`);
}

/** Audit actions that make each verb a no-op. A removed client can still be revoked, because it still has its login. */
const RECORDED = { remove: ["client.remove", "client.revoke"], revoke: ["client.revoke"] } as const;

/**
 * @returns undefined for a client that an earlier run of this verb removed from the inventory
 * @throws DomainError `client.not_found`, `client.ambiguous`
 */
function findUnlessRemoved(
  { domain, actor }: Call,
  verb: RemovalKind,
  reference: string,
): ClientView | undefined {
  try {
    return domain.clients.inventory.find(actor.organizationId, reference);
  } catch (error) {
    const isMissing = error instanceof DomainError && error.reason === "client.not_found";
    const removed = { actions: RECORDED[verb], name: reference, fields: ["hostname", "instance_id"] };
    if (isMissing && domain.auditLog.hasRecord(actor.organizationId, removed)) return undefined;
    throw error;
  }
}

function sentenceOf(client: ClientView, nowMs: number): string {
  const age = ageText(client.lastSeenAtMs, nowMs);
  return `${nameOf(client)}, last seen ${age === "now" ? "just now" : `${age} ago`}.`;
}

function consequences({ domain }: Call, verb: RemovalKind, client: ClientView): string[] {
  if (verb === "remove") return ["Its tokens stay valid; use `clients revoke` to end them."];
  const companions = domain.clients.inventory.companions(client).map(({ id, hostname }) => hostname ?? id);
  return [
    "Its login session and all its tokens end: its next request is refused.",
    ...(companions.length > 0
      ? [
          `These workstations were approved by the same sign-in and are signed out too: ${nameList(companions)}`,
        ]
      : []),
  ];
}

async function removeUnseen(call: Call, verb: RemovalKind, days: number): Promise<void> {
  const { domain, actor, output, context, command } = call;
  const nowMs = context.clock.nowMs();
  const seenBeforeMs = nowMs - days * DAY_MS + 1; // includes a workstation seen exactly so long ago, as lists do
  const { items, total } = readClients(call, { seenBeforeMs, sort: "last_seen_asc" });
  if (total === 0) {
    return output.result(
      { changed: false, clients: 0 },
      "unchanged: all workstations have been seen since then",
    );
  }
  const named = items.slice(0, NAMED_MAX).map((client) => sentenceOf(client, nowMs));
  const more = total - named.length;
  const details = [...named, ...(more > 0 ? [`and ${more} more`] : []), CONSEQUENCE[verb]];
  if (!(await isConfirmed(context, command, { action: actionOn(verb, total), details }))) return;
  const signal = context.stopSignal();
  const clients = await domain.clients.removals.unseen(actor, { removal: verb, seenBeforeMs, signal });
  signal.throwIfAborted();
  output.result({ changed: clients > 0, clients }, `${DONE[verb]} ${countText(clients, "workstation")}`);
}

const CONSEQUENCE = {
  remove: "Their tokens stay valid; use `clients revoke` to end them.",
  revoke: "Their logins end: their next requests are refused.",
} as const;

const actionOn = (verb: RemovalKind, count: number): string =>
  `${verb} ${countText(count, "workstation")}${verb === "remove" ? " from the inventory" : ""}`;
