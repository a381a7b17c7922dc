// The audit log as a list: filters, columns, and the equivalent command.
/** @jsxImportSource preact */
import { Fragment } from "preact";

import { AUDIT_ACTIONS } from "../../../domain/audit/actions.ts";
import type { VerificationState } from "../../../domain/audit/log.ts";
import type { NamedEntry } from "../../../domain/audit/reading/entry-document.ts";
import type { ListColumn } from "../../../domain/console/service.ts";
import type { KeyedPage } from "../../../domain/shared/page.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { CONSOLE } from "../frame/navigation.ts";
import { pathWith } from "../list/address.ts";
import { INVITATION_STEP } from "../list/first-step.tsx";
import type { Column, Filter, List, Values } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { options } from "../parts/command.tsx";
import { shortened, visibleText } from "../parts/texts.ts";
import { Id, Text, Time, useReader } from "../parts/values.tsx";
import { ChainState } from "./audit-chain.tsx";
import { outcomeText, shortOutcome } from "./audit-changes.ts";

export const AUDIT_PATH = `${CONSOLE}/audit`;
export const AUDIT_CSV_PATH = `${CONSOLE}/audit.csv`;

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

export const AUDIT_COLUMNS: readonly Column<NamedEntry, ListColumn<"/console/audit">>[] = [
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
    isWide: true,
    cell: ({ actorLabel }) => (
      <bdi>
        <Breakable text={actorLabel} />
      </bdi>
    ),
    csv: ({ actorLabel }) => actorLabel,
  },
  {
    name: "action",
    label: "Action",
    isWide: true,
    cell: ({ action }) => (
      <code>
        <Breakable text={action} />
      </code>
    ),
    csv: ({ action }) => action,
  },
  {
    name: "target",
    label: "Target",
    cell: (entry) => <Target entry={entry} />,
    csv: ({ target }) => target,
  },
  {
    name: "outcome",
    label: "Outcome",
    cell: (entry) => <Text value={shortOutcome(entry)} />,
    csv: outcomeText,
  },
  {
    name: "address",
    label: "Address",
    cell: ({ address }) => <Address address={address} />,
    csv: ({ address }) => address,
  },
];

/** `captured_session.complete` and addresses break after their marks, and not within a word if there is room. */
const Breakable = ({ text }: { text: string }) => (
  <>
    {visibleText(text)
      .split(/(?<=[._@])/)
      .map((part, at) => (
        <Fragment key={part}>
          {at > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
  </>
);

/** Longest IPv4 address; a longer address may break. */
const SHORT_ADDRESS = 15;

const Address = ({ address }: Pick<NamedEntry, "address">) =>
  address !== null && address.length <= SHORT_ADDRESS ? (
    <span class="number">
      <Text value={address} />
    </span>
  ) : (
    <Text value={address} />
  );

/** The name of the target, or its id; a link if a page shows the target. */
export function Target({ entry }: { entry: NamedEntry }) {
  const page = useReader().targetPage(entry);
  const { target, targetName } = entry;
  if (page === undefined) return targetName === null ? <Id value={target} /> : <Text value={targetName} />;
  return (
    <a href={page}>
      <Text value={targetName ?? shortened(target)} />
    </a>
  );
}

/** The days of the filters as RFC 3339 times for the command and the API, which do not know the reader's time zone. */
export interface AuditTimes {
  since: string | undefined;
  until: string | undefined;
}

interface AuditListProps {
  values: Values;
  times: AuditTimes;
  chain: VerificationState;
  page: KeyedPage<NamedEntry> | undefined;
  problems?: readonly Problem[] | undefined;
}

export function auditListPage({ values, times, page, chain, problems = [] }: AuditListProps): ConsolePage {
  const { actor, action, target, cursor, per_page: limit } = values;
  const query = new URLSearchParams(valuesGiven({ actor, action, target, ...times, cursor, limit }));
  const list: List<NamedEntry> = {
    noun: "entries",
    filters: FILTERS,
    columns: AUDIT_COLUMNS,
    rows: page?.items ?? [],
    idOf: ({ id }) => String(id),
    paging: { next: page?.next ?? null, isFirst: cursor === undefined },
    none: {
      ...INVITATION_STEP,
      text: "The audit log has no entries yet. Every change of this installation adds one, such as an invitation.",
    },
    problems,
    csvPath: AUDIT_CSV_PATH,
    command: ["audit", "list", ...options({ actor, action, target, ...times })],
    api: { method: "GET", path: pathWith("/admin/audit", query) },
  };
  return {
    title: "Audit log",
    status: listStatus(list),
    isError: problems.length > 0,
    content: (
      <>
        <ChainState chain={chain} />
        <ListView list={list} />
      </>
    ),
  };
}

const valuesGiven = (values: Record<string, string | undefined>): [string, string][] =>
  Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
