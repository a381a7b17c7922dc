// The list of workstations: filters, columns, and the equivalent command. It shows summaries, never a reported inventory.
/** @jsxImportSource preact */

import { STALE_AFTER_DAYS } from "../../../domain/clients/limits.ts";
import { HEALTHS } from "../../../domain/clients/model.ts";
import type { ClientFacets, ClientPage, ClientSummary } from "../../../domain/clients/service.ts";
import type { ListColumn } from "../../../domain/console/service.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { CONSOLE } from "../frame/navigation.ts";
import { WORKSTATION_STEP } from "../list/first-step.tsx";
import type { Column, Filter, List, Paging, Values } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { options } from "../parts/command.tsx";
import { Text, Time, Word } from "../parts/values.tsx";
import { userPath } from "../people/words.ts";
import { HealthState, platformText, ReportedRevision, Share, shareText } from "./client-values.tsx";
import { ACTS, HEALTH_WORDS, RECENT_WORD, STALE_WORD } from "./words.ts";

export const CLIENTS_PATH = `${CONSOLE}/clients`;
export const CLIENTS_ACTION_PATH = `${CLIENTS_PATH}/action`;
export const CLIENTS_CSV_PATH = `${CLIENTS_PATH}.csv`;

/** @returns path of the page about one workstation */
export const clientPath = (id: string): string => `${CLIENTS_PATH}/${id}`;

/** Longer lists are paged by key, because reaching a late page by number would count all rows before it. */
const NUMBERED_ROWS = 10_000;

/** A row, with the number of the revision that it reports. */
export interface ClientRow extends ClientSummary {
  /** undefined if the revision is not among the newest */
  sequence: number | undefined;
}

/** @param facets of the reported workstations; undefined while the rare filters are hidden */
export function clientFilters(facets?: ClientFacets): Filter[] {
  const harnesses = facets?.harnesses.map((value) => ({ value, label: value }));
  return [
    { name: "q", label: "Search", kind: "search", hint: "Host, instance id or address" },
    { name: "user", label: "User", kind: "person", hint: "Address or id" },
    {
      name: "health",
      label: "State",
      kind: "choice",
      choices: HEALTHS.map((value) => ({ value, label: HEALTH_WORDS[value].label })),
    },
    {
      name: "stale",
      label: "Last report",
      kind: "choice",
      choices: [
        { value: "false", label: RECENT_WORD },
        { value: "true", label: STALE_WORD },
      ],
    },
    {
      name: "harness",
      label: "Harness",
      isOptional: true,
      ...(harnesses ? { kind: "choice", choices: harnesses } : { kind: "text" }),
    },
    { name: "revision", label: "Revision", kind: "text", hint: "r43, or its id", isOptional: true },
    { name: "client_version", label: "Client version", kind: "text", isOptional: true },
    { name: "platform", label: "Platform", kind: "text", isOptional: true },
    { name: "last_seen_from", label: "Seen from", kind: "date", isOptional: true },
    { name: "last_seen_to", label: "Seen until", kind: "date", isOptional: true },
    { name: "not_seen_for_days", label: "Not seen for", kind: "text", hint: "Days", isOptional: true },
  ];
}

const CLIENT_COLUMNS: readonly Column<ClientRow, ListColumn<"/console/clients">>[] = [
  {
    name: "host",
    label: "Host",
    sort: "host",
    isWide: true,
    cell: ({ id, hostname, instanceId }) => (
      <a href={clientPath(id)}>
        <Text value={hostname ?? instanceId} />
      </a>
    ),
    csv: ({ hostname }) => hostname,
  },
  {
    name: "user",
    label: "User",
    sort: "user",
    isWide: true,
    cell: ({ userId, userEmail }) => (
      <a href={userPath(userId)}>
        <Text value={userEmail} />
      </a>
    ),
    csv: ({ userEmail }) => userEmail,
  },
  {
    name: "state",
    label: "State",
    cell: ({ health }) => <HealthState health={health} />,
    csv: ({ health }) => health,
  },
  {
    name: "client",
    label: "Client",
    sort: "-version",
    cell: ({ clientVersion, platform, architecture }) => (
      <>
        <Word value={clientVersion} />{" "}
        <small>
          <Word value={platformText(platform, architecture)} />
        </small>
      </>
    ),
    csv: ({ clientVersion }) => clientVersion,
  },
  {
    name: "harnesses",
    label: "Harnesses",
    cell: ({ harnessesReconciled, harnessesWanted }) => (
      <Share done={harnessesReconciled} all={harnessesWanted} />
    ),
    csv: ({ harnessesReconciled, harnessesWanted }) => shareText(harnessesReconciled, harnessesWanted),
  },
  {
    name: "packages",
    label: "Packages",
    cell: ({ packagesApplied, packagesReported }) => <Share done={packagesApplied} all={packagesReported} />,
    csv: ({ packagesApplied, packagesReported }) => shareText(packagesApplied, packagesReported),
  },
  {
    name: "revision",
    label: "Revision",
    cell: ({ sequence, configRevision }) => <ReportedRevision sequence={sequence} id={configRevision} />,
    csv: ({ configRevision }) => configRevision,
  },
  {
    name: "last_seen",
    label: "Last seen",
    sort: "-last_seen",
    cell: ({ lastSeenAtMs }) => <Time at={lastSeenAtMs} />,
    csv: ({ lastSeenAtMs }) => toRfc3339(lastSeenAtMs),
  },
];

/** Columns of the CSV file only. */
export const CLIENT_CSV_COLUMNS: readonly Column<ClientRow>[] = [
  fileColumn("id", ({ id }) => id),
  ...CLIENT_COLUMNS,
  fileColumn("platform", ({ platform, architecture }) => platformText(platform, architecture)),
  fileColumn("instance_id", ({ instanceId }) => instanceId),
  fileColumn("first_seen", ({ firstSeenAtMs }) => toRfc3339(firstSeenAtMs)),
];

function fileColumn(name: string, csv: (row: ClientRow) => string): Column<ClientRow> {
  return { name, label: name, cell: csv, csv };
}

interface ClientListProps {
  values: Values;
  page: ClientPage<ClientRow> | undefined;
  /** query of the list in the format of the API */
  query: Readonly<Record<string, string>>;
  facets: ClientFacets | undefined;
  problems?: readonly Problem[] | undefined;
  mayAdminister: boolean;
}

const BULK = (["revoke", "remove"] as const).map((name) => ({ name, label: ACTS[name].label }));

export function clientListPage({
  values,
  page,
  query,
  facets,
  problems = [],
  mayAdminister,
}: ClientListProps): ConsolePage {
  const list: List<ClientRow> = {
    noun: "workstations",
    filters: clientFilters(facets),
    columns: CLIENT_COLUMNS,
    rows: page?.items ?? [],
    idOf: ({ id }) => id,
    paging: page ? pagingOf(page, values) : { page: 1, perPage: 1, total: 0 },
    none: { ...WORKSTATION_STEP, text: <NoneYet /> },
    problems,
    defaultSort: "-last_seen",
    csvPath: CLIENTS_CSV_PATH,
    bulk: mayAdminister ? { path: CLIENTS_ACTION_PATH, actions: BULK } : undefined,
    command: ["clients", "list", "--summary", ...clientOptions(query), ...options({ sort: query.sort })],
    api: {
      method: "GET",
      path: `/admin/client-status?${new URLSearchParams({ view: "summary", ...query })}`,
    },
  };
  return {
    title: "Workstations",
    status: listStatus(list),
    isError: problems.length > 0,
    content: <ListView list={list} />,
  };
}

/** @returns the filters of the API as options of `clients list`, `remove` and `revoke` */
export function clientOptions({
  q,
  user_id: user,
  harness,
  health,
  revision,
  client_version,
  platform,
  stale,
  not_seen_for_days: days,
  last_seen_from,
  last_seen_to,
}: Values): string[] {
  const unseen = [stale === "true" ? STALE_AFTER_DAYS : 0, Number(days ?? 0)];
  const leastDays = Math.max(...unseen);
  return options({
    q,
    user,
    harness,
    health,
    revision,
    "client-version": client_version,
    platform,
    recent: stale === "false",
    stale: leastDays > 0 && `${leastDays}d`,
    "last-seen-from": last_seen_from,
    "last-seen-to": last_seen_to,
  });
}

function pagingOf(
  { page, perPage, total, isTotalExact, next }: ClientPage<ClientRow>,
  values: Values,
): Paging {
  const isNumbered = isTotalExact && total <= NUMBERED_ROWS && values.cursor === undefined;
  if (isNumbered) return { page, perPage, total };
  return { next, isFirst: values.cursor === undefined && page === 1, total, isBound: !isTotalExact };
}

const NoneYet = () => (
  <>
    No workstation has reported yet. A workstation appears here after its first report, which follows its
    sign-in: see <a href="/help/workstations">Workstations in the handbook</a>.
  </>
);
