// All revisions of the policy as a list, with the workstations that report each of them.
/** @jsxImportSource preact */
import type { ListColumn } from "../../../domain/console/service.ts";
import type { RevisionSummary } from "../../../domain/governance/service.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import type { Column, List } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { Count, Revision, Text, Time } from "../parts/values.tsx";
import { BREADCRUMBS, HISTORY_PATH, ORIGIN_WORDS } from "./words.ts";

export interface HistoryRow extends RevisionSummary {
  /** workstations that report it */
  clients: number;
}

export const HISTORY_COLUMNS: readonly Column<HistoryRow, ListColumn<"/console/policy/history">>[] = [
  {
    name: "number",
    label: "Revision",
    cell: ({ id, sequence }) => <Revision sequence={sequence} href={`${HISTORY_PATH}/${id}`} />,
    csv: ({ sequence }) => sequence,
  },
  {
    name: "published",
    label: "Published",
    cell: ({ createdAtMs }) => <Time at={createdAtMs} />,
    csv: ({ createdAtMs }) => toRfc3339(createdAtMs),
  },
  {
    name: "by",
    label: "By",
    cell: ({ authorLabel }) => <Text value={authorLabel} />,
    csv: ({ authorLabel }) => authorLabel,
  },
  {
    name: "origin",
    label: "Origin",
    cell: ({ origin }) => ORIGIN_WORDS[origin],
    csv: ({ origin }) => origin,
  },
  {
    name: "summary",
    label: "What changed",
    cell: ({ summary }) => <Text value={summary} none="not recorded" />,
    csv: ({ summary }) => summary,
    isWide: true,
  },
  {
    name: "comment",
    label: "Comment",
    cell: ({ comment }) => <Text value={comment} />,
    csv: ({ comment }) => comment,
    isWide: true,
  },
  {
    name: "workstations",
    label: "Workstations now",
    cell: ({ clients }) => <Count value={clients} />,
    csv: ({ clients }) => clients,
    isNumber: true,
  },
];

interface HistoryProps {
  rows: readonly HistoryRow[] | undefined;
  /** number of the last revision on this page; null on the last page */
  next: number | null;
  isFirst: boolean;
  problems?: readonly Problem[] | undefined;
}

export function historyPage({ rows = [], next, isFirst, problems = [] }: HistoryProps): ConsolePage {
  const list: List<HistoryRow> = {
    noun: "revisions",
    filters: [],
    columns: HISTORY_COLUMNS,
    rows,
    idOf: ({ id }) => id,
    paging: { next: next === null ? null : String(next), isFirst },
    none: {
      text: "No policy is published yet.",
      purpose: "To publish one from a file, run on the server",
      command: ["policy", "apply", "policy.yaml"],
    },
    problems,
    csvPath: `${HISTORY_PATH}.csv`,
    command: ["policy", "history"],
    api: { method: "GET", path: "/admin/governance-config/revisions" },
  };
  return {
    title: "History of the policy",
    breadcrumbs: BREADCRUMBS,
    status: listStatus(list),
    isError: problems.length > 0,
    content: <ListView list={list} />,
  };
}
