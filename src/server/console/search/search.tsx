// The search page. The command palette shows its element `results`.
/** @jsxImportSource preact */
import { SEARCH_LENGTH_MAX } from "../../../domain/shared/page.ts";
import type { Problem } from "../../../platform/errors.ts";
import { asSentence } from "../../pages/words.ts";
import type { SearchHit, SearchKind, SearchResult } from "../../search/search.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { CONSOLE } from "../frame/navigation.ts";
import { pathWith } from "../list/address.ts";
import { MCP_PATH, serverPath } from "../mcp/words.ts";
import { AsCommand } from "../parts/command.tsx";
import { Text } from "../parts/values.tsx";
import { userPath } from "../people/words.ts";
import { CLIENTS_PATH, clientPath } from "../workstations/client-list.tsx";
import type { Place } from "./places.ts";

interface SearchProps {
  q: string | undefined;
  places: readonly Place[];
  result: SearchResult | undefined;
  problems?: readonly Problem[] | undefined;
  /** addresses of the navigation of this reader */
  pages: ReadonlySet<string>;
}

/** The kinds of hits in the order of the page. `list` is the page of the navigation that lists the kind. */
const KINDS: readonly { kind: SearchKind; label: string; list: string; href(hit: SearchHit): string }[] = [
  { kind: "user", label: "Users", list: `${CONSOLE}/users`, href: ({ id }) => userPath(id) },
  { kind: "workstation", label: "Workstations", list: CLIENTS_PATH, href: ({ id }) => clientPath(id) },
  { kind: "package", label: "Packages", ...inside(`${CONSOLE}/packages`) },
  { kind: "mcp_server", label: "MCP servers", list: MCP_PATH, href: ({ id }) => serverPath(id) },
  { kind: "revision", label: "Revisions", ...inside(`${CONSOLE}/policy/history`) },
  { kind: "group", label: "Groups", ...inside(`${CONSOLE}/groups`) },
  { kind: "audit_entry", label: "Audit log", ...inside(`${CONSOLE}/audit`) },
];

function inside(list: string) {
  return { list, href: ({ id }: SearchHit): string => `${list}/${encodeURIComponent(id)}` };
}

export function searchPage({ q, places, result, problems = [], pages }: SearchProps): ConsolePage {
  const isBad = problems.length > 0;
  const address = pathWith("/admin/search", new URLSearchParams(q === undefined ? {} : { q }));
  return {
    title: "Search",
    isError: isBad,
    status: isBad ? 400 : 200,
    content: (
      <>
        <search>
          <form class="filters" action={`${CONSOLE}/search`}>
            <div class="filter search">
              <label for="search-text">Name, address or number</label>
              <input
                id="search-text"
                type="search"
                name="q"
                value={q}
                maxLength={SEARCH_LENGTH_MAX}
                autocomplete="off"
                aria-invalid={isBad}
                aria-describedby={isBad ? "search-problem" : undefined}
              />
            </div>
            <button class="button" type="submit">
              Search
            </button>
          </form>
        </search>
        <Results {...{ q, places, result, problems, pages }} />
        <AsCommand api={{ method: "GET", path: address }} />
      </>
    ),
  };
}

function Results({ q, places, result, problems = [], pages }: SearchProps) {
  const { hits = [], unfinished = [] } = result ?? {};
  const isNone = problems.length === 0 && places.length === 0 && hits.length === 0;
  return (
    <div id="results" class="results">
      {problems.map(({ pointer, detail }) => (
        <p key={pointer + detail} id="search-problem" class="error" role="alert">
          {asSentence(detail)}
        </p>
      ))}
      {isNone && unfinished.length === 0 && (
        <p>
          Nothing has <Text value={q} /> in its name.
        </p>
      )}
      {places.length > 0 && (
        <section>
          <h2>Pages and actions</h2>
          <ul>
            {places.map(({ href, label, detail }) => (
              <li key={label + href}>
                <a href={href}>{label}</a> <span class="muted">{detail}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {KINDS.map(({ kind, ...kindProps }) => (
        <Kind key={kind} {...kindProps} pages={pages} hits={hits.filter((hit) => hit.kind === kind)} />
      ))}
      {KINDS.filter(({ kind }) => unfinished.includes(kind)).map(({ kind, label, list }) => (
        <p key={kind} class="hint">
          {label}: the search was not finished.{" "}
          {pages.has(list) && (
            <a href={pathWith(list, new URLSearchParams({ q: q ?? "" }))}>Search the list</a>
          )}
        </p>
      ))}
    </div>
  );
}

interface KindProps extends Omit<(typeof KINDS)[number], "kind"> {
  hits: readonly SearchHit[];
  pages: ReadonlySet<string>;
}

/** A hit is plain text if this installation does not have its page. */
function Kind({ label, list, href, hits, pages }: KindProps) {
  if (hits.length === 0) return null;
  return (
    <section>
      <h2>{label}</h2>
      <ul>
        {hits.map((hit) => (
          <li key={hit.id}>
            {pages.has(list) ? (
              <a href={href(hit)}>
                <Text value={hit.label} />
              </a>
            ) : (
              <Text value={hit.label} />
            )}{" "}
            {hit.detail !== null && (
              <span class="muted">
                <Text value={hit.detail} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
