// Finds things by name for the search page and the API: users, workstations, packages, MCP servers, revisions, groups and audit
// entries. Long tables are searched in steps, until there are enough hits or the time limit is reached.

import type { AuditLog } from "../../domain/audit/log.ts";
import type { Catalog } from "../../domain/catalog/service.ts";
import type { Clients } from "../../domain/clients/service.ts";
import type { Governance } from "../../domain/governance/service.ts";
import type { Identity } from "../../domain/identity/service.ts";
import type { Scim } from "../../domain/scim/service.ts";
import { readSearchText } from "../../domain/shared/page.ts";
import { DomainError, type Problem } from "../../platform/errors.ts";
import { runInTurnsUntil, type Steps } from "../../platform/steps.ts";

/** Maximum number of hits of one kind. */
export const HITS_MAX = 5;
/** Time limit of a search. The response names the kinds that were not finished. */
const SEARCH_MS = 80;

export const SEARCH_KINDS = [
  "revision",
  "audit_entry",
  "mcp_server",
  "package",
  "group",
  "user",
  "workstation",
] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

export interface SearchHit {
  kind: SearchKind;
  /** id in the API; the name of an MCP server; the number of an audit entry */
  id: string;
  label: string;
  /** text that distinguishes hits with similar names; null without one */
  detail: string | null;
}

export interface SearchResult {
  hits: readonly SearchHit[];
  /** kinds whose search took too long, so that there may be more */
  unfinished: readonly SearchKind[];
}

export interface SearchDependencies {
  auditLog: Pick<AuditLog, "find">;
  catalog: Pick<Catalog, "search">;
  clients: Pick<Clients, "inventory">;
  governance: Pick<Governance, "revisions">;
  identity: Pick<Identity, "users">;
  scim: Pick<Scim, "directory">;
}

interface Asked {
  organizationId: string;
  text: string;
}

/** @returns the search; created once, in server.ts */
export function createSearch(own: SearchDependencies) {
  const finders = findersOf(own);

  /**
   * @param q part of a name, in any letter case; blank finds nothing
   * @throws DomainError `search.invalid`
   */
  return async (organizationId: string, q: string | undefined): Promise<SearchResult> => {
    const problems: Problem[] = [];
    const text = readSearchText(q, problems);
    if (problems.length > 0) throw searchInvalid(problems);
    if (text === undefined) return { hits: [], unfinished: [] };
    const untilMs = performance.now() + SEARCH_MS;
    const hits: SearchHit[] = [];
    const unfinished: SearchKind[] = [];
    for (const kind of SEARCH_KINDS) {
      const found = await runInTurnsUntil(finders[kind]({ organizationId, text }), untilMs);
      if (found) hits.push(...found.map((hit) => ({ kind, ...hit })));
      else unfinished.push(kind);
    }
    return { hits, unfinished };
  };
}

export type Search = ReturnType<typeof createSearch>;

type Hits = readonly Omit<SearchHit, "kind">[];
type Find = (asked: Asked) => Steps<Hits>;

const findersOf = (own: SearchDependencies): Readonly<Record<SearchKind, Find>> => ({
  revision: inOneStep((asked) => revisionsLike(own.governance, asked)),
  audit_entry: inOneStep((asked) => entryOf(own.auditLog, asked)),
  mcp_server: inOneStep((asked) => serversLike(own.governance, asked)),
  package: inOneStep((asked) => packagesLike(own, asked)),
  group: inOneStep(({ organizationId, text }) =>
    own.scim.directory
      .list(organizationId, { q: text, perPage: HITS_MAX, known: 0 })
      .items.map(({ id, displayName }) => ({ id, label: displayName, detail: null })),
  ),
  *user({ organizationId, text }) {
    const query = { q: text, perPage: HITS_MAX, known: 0 };
    const { items } = yield* own.identity.users.listInSteps(organizationId, query);
    return items.map(({ id, email, status }) => ({ id, label: email, detail: status }));
  },
  *workstation({ organizationId, text }) {
    const query = { q: text, perPage: HITS_MAX, known: 0 };
    const { items } = yield* own.clients.inventory.summaries(organizationId, query);
    return items.map(({ id, hostname, instanceId, userEmail }) => ({
      id,
      label: hostname ?? instanceId,
      detail: userEmail,
    }));
  },
});

const inOneStep = (find: (asked: Asked) => Hits): Find =>
  function* (asked) {
    yield;
    return find(asked);
  };

/** Finds packages of the policy first, then other packages of the catalog. */
function packagesLike(
  { catalog, governance }: Pick<SearchDependencies, "catalog" | "governance">,
  { organizationId, text }: Asked,
): Hits {
  const part = text.toLowerCase();
  const published = governance.revisions.current(organizationId)?.document.packages ?? [];
  const found = published.filter(({ id, name = "" }) => `${id} ${name.toLowerCase()}`.includes(part));
  const offered = catalog.search(organizationId, { text, limit: HITS_MAX });
  const versions = new Map([...offered, ...found.slice(0, HITS_MAX)].map(({ id, version }) => [id, version]));
  const ids = new Set([...found.map(({ id }) => id), ...offered.map(({ id }) => id)]);
  return [...ids].slice(0, HITS_MAX).map((id) => ({ id, label: id, detail: versions.get(id) ?? null }));
}

/** Audit entries are found by their whole number only. */
function entryOf(auditLog: SearchDependencies["auditLog"], { organizationId, text }: Asked): Hits {
  if (!/^\d{1,15}$/.test(text)) return [];
  try {
    const { entry } = auditLog.find(organizationId, text);
    const id = String(entry.id);
    return [{ id, label: `Entry ${id}`, detail: `${entry.action} by ${entry.actorLabel}` }];
  } catch (error) {
    if (error instanceof DomainError && error.kind === "not_found") return [];
    throw error;
  }
}

/** Finds MCP servers of the current policy. */
function serversLike({ revisions }: SearchDependencies["governance"], { organizationId, text }: Asked): Hits {
  const { harnesses = {} } = revisions.current(organizationId)?.document ?? {};
  const names = Object.values(harnesses).flatMap(({ mcp }) => mcp.map(({ name }) => name));
  const wanted = text.toLowerCase();
  return [...new Set(names)]
    .filter((name) => name.toLowerCase().includes(wanted))
    .slice(0, HITS_MAX)
    .map((name) => ({ id: name, label: name, detail: null }));
}

/** Finds the newest revisions by number or beginning of the id, and older ones by their whole number. */
function revisionsLike(
  { revisions }: SearchDependencies["governance"],
  { organizationId, text }: Asked,
): Hits {
  const wanted = text.toLowerCase();
  const number = /^r?(\d{1,15})$/.exec(wanted)?.[1];
  const newest = revisions
    .list(organizationId)
    .filter(({ id, sequence }) => String(sequence) === number || id.startsWith(wanted))
    .slice(0, HITS_MAX)
    .map(({ id, sequence, authorLabel }) => ({ id, label: `r${sequence}`, detail: authorLabel }));
  if (newest.length > 0 || number === undefined) return newest;
  const id = revisions.idOf(organizationId, Number(number));
  return id === undefined ? [] : [{ id, label: `r${Number(number)}`, detail: null }];
}

const searchInvalid = (problems: readonly Problem[]): DomainError =>
  new DomainError("invalid", "search.invalid", problems.map(({ detail }) => detail).join("; "), { problems });
