// The MCP servers of the draft or, without a draft, of the policy in force.
/** @jsxImportSource preact */
import type { ListColumn } from "../../../domain/console/service.ts";
import type { PlacedServer } from "../../../domain/governance/service.ts";
import { withHiddenServerSecrets } from "../../../domain/governance/shown/hidden-secrets.ts";
import { HARNESS_KEYS } from "../../../domain/harnesses/harnesses.ts";
import { type Page, PER_PAGE_DEFAULT } from "../../../domain/shared/page.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import type { Column, Filter, List } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { harnessText } from "../own/words.ts";
import { State, Text, useReader } from "../parts/values.tsx";
import { REVIEW_PATH } from "../policy/words.ts";
import { MCP_PATH, NEW_SERVER_PATH, serverPath } from "./words.ts";

export const KINDS = ["local", "remote"] as const;
export const STATES = ["enabled", "disabled"] as const;

const KIND_LABELS = { local: "Local", remote: "Remote" } as const;
const STATE_LABELS = { enabled: "Enabled", disabled: "Disabled" } as const;

const FILTERS: readonly Filter[] = [
  { name: "q", label: "Search", kind: "search", hint: "Name, command or URL" },
  {
    name: "kind",
    label: "Kind",
    kind: "choice",
    choices: KINDS.map((value) => ({ value, label: KIND_LABELS[value] })),
  },
  {
    name: "harness",
    label: "Harness",
    kind: "choice",
    choices: HARNESS_KEYS.map((value) => ({ value, label: harnessText(value) })),
  },
  {
    name: "state",
    label: "State",
    kind: "choice",
    choices: STATES.map((value) => ({ value, label: STATE_LABELS[value] })),
  },
];

export interface ListedServer extends PlacedServer {
  /** another server has the same name, so the address must name a harness */
  isAmbiguous: boolean;
}

export const SERVER_COLUMNS: readonly Column<ListedServer, ListColumn<"/console/mcp">>[] = [
  {
    name: "name",
    label: "Server",
    cell: (row) => (
      <a href={addressOf(row)}>
        <Text value={row.server.name} />
      </a>
    ),
    csv: ({ server }) => server.name,
    isWide: true,
  },
  {
    name: "kind",
    label: "Kind",
    cell: ({ server }) => KIND_LABELS[kindOf(server)],
    csv: ({ server }) => kindOf(server),
  },
  {
    name: "target",
    label: "Command or URL",
    cell: ({ server }) => (
      <code>
        <Text value={targetOf(server)} />
      </code>
    ),
    csv: ({ server }) => targetOf(server),
    isWide: true,
  },
  {
    name: "harnesses",
    label: "Harnesses",
    cell: ({ harnesses }) => harnesses.map(harnessText).join(", "),
    csv: ({ harnesses }) => harnesses.join(" "),
  },
  {
    name: "state",
    label: "State",
    cell: ({ server }) => (
      <State tone={server.disabled ? "neutral" : "good"}>{STATE_LABELS[stateOf(server)]}</State>
    ),
    csv: ({ server }) => stateOf(server),
  },
];

/** @returns the command or URL of the server, without keys */
function targetOf(server: PlacedServer["server"]): string | undefined {
  const { command, url } = withHiddenServerSecrets(server);
  return command ?? url;
}

export const kindOf = ({ url }: PlacedServer["server"]): (typeof KINDS)[number] =>
  url === undefined ? "local" : "remote";

export const stateOf = ({ disabled }: PlacedServer["server"]): (typeof STATES)[number] =>
  disabled ? "disabled" : "enabled";

const addressOf = ({ server: { name }, harnesses, isAmbiguous }: ListedServer): string =>
  serverPath(name, isAmbiguous ? harnesses[0] : undefined);

interface ServerListProps {
  page: Page<ListedServer> | undefined;
  problems?: readonly Problem[] | undefined;
  /** whether the list is from the reader's draft */
  isDraft: boolean;
}

export function serverListPage({ page, problems = [], isDraft }: ServerListProps): ConsolePage {
  const list: List<ListedServer> = {
    noun: "MCP servers",
    filters: FILTERS,
    columns: SERVER_COLUMNS,
    rows: page?.items ?? [],
    idOf: ({ server, harnesses }) => `${server.name}/${harnesses[0]}`,
    paging: page ?? { page: 1, perPage: PER_PAGE_DEFAULT, total: 0 },
    none: {
      text: "The policy has no MCP server yet. Add the first one with the button above, or publish a policy from a file.",
      command: ["policy", "apply", "policy.yaml"],
    },
    problems,
    csvPath: `${MCP_PATH}.csv`,
    command: ["policy", "show"],
    api: { method: "GET", path: isDraft ? "/admin/policy-draft" : "/admin/governance-config" },
  };
  return {
    title: "MCP servers",
    status: listStatus(list),
    isError: problems.length > 0,
    content: (
      <>
        {isDraft && (
          <p class="notice">
            These are the servers of your draft. <a href={REVIEW_PATH}>Review and publish it</a>
          </p>
        )}
        <NewServer />
        <ListView list={list} />
      </>
    ),
  };
}

const NewServer = () =>
  useReader().mayAdminister ? (
    <p>
      <a class="button primary" href={NEW_SERVER_PATH}>
        Add an MCP server
      </a>
    </p>
  ) : null;
