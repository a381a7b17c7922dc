// The list of the gateway keys of all users. No page contains a credential.
/** @jsxImportSource preact */
import type { ListColumn } from "../../../domain/console/service.ts";
import { BULK_KEY_ACTIONS } from "../../../domain/gateway/administration/bulk-key-changes.ts";
import type { KeyView } from "../../../domain/gateway/administration/key-directory.ts";
import { STORED_STATES } from "../../../domain/gateway/administration/stored-states.ts";
import type { KeyedPage } from "../../../domain/shared/page.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { pathWith } from "../list/address.ts";
import type { Column, Filter, List, Values } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { Count, State, Text, Time, useReader } from "../parts/values.tsx";
import { KEY_LABELS } from "../people/words.ts";
import { KEY_BULK, keyOptions } from "./key-bulk.ts";
import { KEYS_PATH, keyPath, RECONCILE_PATH } from "./words.ts";

export const KEY_FILTERS: readonly Filter[] = [
  { name: "q", label: "Search", kind: "search", hint: "Part of an address" },
  {
    name: "state",
    label: "State",
    kind: "choice",
    choices: STORED_STATES.map((value) => ({ value, label: KEY_LABELS[value].label })),
  },
  {
    name: "problem",
    label: "Problem",
    kind: "choice",
    choices: [{ value: "true", label: "With a problem" }],
  },
  { name: "expires_within", label: "Expires within", kind: "text", hint: "Such as 7d or 12h" },
  { name: "user_id", label: "User", kind: "person", hint: "Address or id", isOptional: true },
];

export const KEY_COLUMNS: readonly Column<KeyView, ListColumn<"/console/gateway/keys">>[] = [
  {
    name: "user",
    label: "User",
    isWide: true,
    cell: ({ userId, email }) => (
      <a href={keyPath(userId)}>
        <Text value={email} />
      </a>
    ),
    csv: ({ email }) => email,
  },
  {
    name: "state",
    label: "State",
    cell: ({ state }) => <State tone={KEY_LABELS[state].tone}>{KEY_LABELS[state].label}</State>,
    csv: ({ state }) => state,
  },
  { name: "alias", label: "Alias", cell: ({ alias }) => <Text value={alias} />, csv: ({ alias }) => alias },
  {
    name: "expires",
    label: "Expires",
    cell: ({ expiresAtMs }) => <Time at={expiresAtMs} />,
    csv: ({ expiresAtMs }) => timeText(expiresAtMs),
  },
  {
    name: "reconciled",
    label: "Reconciled",
    cell: ({ reconciledAtMs }) => <Time at={reconciledAtMs} />,
    csv: ({ reconciledAtMs }) => timeText(reconciledAtMs),
  },
  {
    name: "next_attempt",
    label: "Next attempt",
    cell: ({ nextAttemptAtMs }) => <Time at={nextAttemptAtMs} none="none planned" />,
    csv: ({ nextAttemptAtMs }) => timeText(nextAttemptAtMs),
  },
  {
    name: "failures",
    label: "Failures",
    isNumber: true,
    cell: ({ failures }) => <Count value={failures} />,
    csv: ({ failures }) => failures,
  },
  {
    name: "problem",
    label: "Problem",
    isWide: true,
    cell: ({ problem }) => <Text value={problem} />,
    csv: ({ problem }) => problem,
  },
];

const timeText = (ms: number | null): string => (ms === null ? "" : toRfc3339(ms));

const BULK = BULK_KEY_ACTIONS.map((name) => ({ name, label: KEY_BULK.words[name].label }));

interface KeyListProps {
  mayAdminister: boolean;
  values: Values;
  page: KeyedPage<KeyView> | undefined;
  problems?: readonly Problem[] | undefined;
  /** of the user that the address names */
  userId: string | undefined;
}

export function keyListPage({
  mayAdminister,
  values,
  page,
  problems = [],
  userId,
}: KeyListProps): ConsolePage {
  const { q, state, problem, expires_within: within, cursor } = values;
  const parameters = Object.entries({ q, state, problem, expires_within: within, user_id: userId });
  const given = parameters.filter((entry): entry is [string, string] => entry[1] !== undefined);
  const list: List<KeyView> = {
    noun: "keys",
    filters: KEY_FILTERS,
    columns: KEY_COLUMNS,
    rows: page?.items ?? [],
    idOf: ({ userId: id }) => id,
    paging: { next: page?.next ?? null, isFirst: cursor === undefined },
    none: {
      text: "No user has a key yet. A user gets one with the first request to the gateway, or on the page of the user's key.",
      command: ["keys", "ensure", "ana@example.org"],
    },
    problems,
    csvPath: `${KEYS_PATH}.csv`,
    bulk: mayAdminister ? { path: KEY_BULK.path, actions: BULK } : undefined,
    command: ["keys", "list", ...keyOptions(values)],
    api: { method: "GET", path: pathWith("/admin/gateway/keys", new URLSearchParams(given)) },
  };
  return {
    title: "Gateway keys",
    status: listStatus(list),
    isError: problems.length > 0,
    content: (
      <>
        <ReconcileLink />
        <ListView list={list} />
      </>
    ),
  };
}

function ReconcileLink() {
  const { mayAdminister } = useReader();
  if (!mayAdminister) return null;
  return (
    <p>
      <a class="button" href={RECONCILE_PATH} data-dialog>
        Reconcile all
      </a>
    </p>
  );
}
