// The audit log as a list: filters, columns, and the same as a command.
/** @jsxImportSource preact */

import { AUDIT_ACTIONS } from "../../../domain/audit/actions.ts";
import type { AuditRow } from "../../../domain/audit/chain.ts";
import type { Page } from "../../../domain/shared/page.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { CONSOLE } from "../frame/navigation.ts";
import type { Column, Filter, List, Values } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { options } from "../parts/command.tsx";
import { Id, Text, Time } from "../parts/values.tsx";

export const AUDIT_PATH = `${CONSOLE}/audit`;

const FILTERS: readonly Filter[] = [
  { name: "actor", label: "Actor", kind: "text", hint: "Address or id" },
  {
    name: "action",
    label: "Action",
    kind: "choice",
    choices: AUDIT_ACTIONS.map((action) => ({ value: action, label: action })),
  },
  { name: "target", label: "Target", kind: "text", hint: "Id of the changed object" },
  { name: "since", label: "Since", kind: "date" },
  { name: "until", label: "Until", kind: "date" },
];

export const AUDIT_COLUMNS: readonly Column<AuditRow>[] = [
  {
    name: "at",
    label: "When",
    cell: ({ id, atMs }) => (
      <a href={`${AUDIT_PATH}/${id}`}>
        <Time at={atMs} />
      </a>
    ),
    csv: ({ atMs }) => toRfc3339(atMs),
  },
  {
    name: "actor",
    label: "Actor",
    cell: ({ actorLabel }) => <Text value={actorLabel} />,
    csv: ({ actorLabel }) => actorLabel,
  },
  {
    name: "action",
    label: "Action",
    cell: ({ action }) => <code>{action}</code>,
    csv: ({ action }) => action,
  },
  {
    name: "target",
    label: "Target",
    cell: ({ target }) => <Id value={target} />,
    csv: ({ target }) => target,
  },
  {
    name: "address",
    label: "Address",
    cell: ({ address }) => <Text value={address} />,
    csv: ({ address }) => address,
  },
];

interface AuditListProps {
  values: Values;
  page: Page<AuditRow> | undefined;
  problems?: readonly Problem[] | undefined;
}

/** @returns the page of the audit log */
export function auditListPage({ values, page, problems = [] }: AuditListProps): ConsolePage {
  const { actor, action, target, since, until } = values;
  const list: List<AuditRow> = {
    noun: "entries",
    filters: FILTERS,
    columns: AUDIT_COLUMNS,
    rows: page?.items ?? [],
    idOf: ({ id }) => String(id),
    paging: page ?? { page: 1, perPage: 1, total: 0 },
    none: <p>The audit log has no entries yet. Every change of this installation adds one.</p>,
    problems,
    command: ["audit", "list", ...options({ actor, action, target, since, until })],
  };
  return {
    title: "Audit log",
    status: listStatus(list),
    isError: problems.length > 0,
    content: <ListView list={list} />,
  };
}
