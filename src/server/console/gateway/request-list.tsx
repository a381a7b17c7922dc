// The requests to the gateway as a list, below their figures. Bodies are never stored, so none can be shown.
/** @jsxImportSource preact */
import type { ListColumn } from "../../../domain/console/service.ts";
import { type Gap, RESULTS, resultOf } from "../../../domain/inference/log/model.ts";
import { OUTCOMES } from "../../../domain/inference/log/record.ts";
import type { RequestLogView } from "../../../domain/inference/log/request-logs.ts";
import { BUCKETS } from "../../../domain/inference/log/summary/model.ts";
import type { RowView } from "../../../domain/inference/log/wire.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { pathWith } from "../list/address.ts";
import type { Column, Filter, List, Values } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { type Equivalents, options } from "../parts/command.tsx";
import { numberText } from "../parts/texts.ts";
import { Count, State, Text, Time, useReader } from "../parts/values.tsx";
import { RequestFigures, type ShownSummary } from "./request-figures.tsx";
import { DROP_REASONS, OUTCOME_LABELS, REQUESTS_CSV_PATH, RESULT_WORDS } from "./words.ts";

const BUCKET_LABELS = { hour: "Hour", day: "Day" } as const;

const FILTERS: readonly Filter[] = [
  { name: "q", label: "Search", kind: "search", hint: "Part of a path, model, repository, branch or run" },
  { name: "user", label: "User", kind: "person", hint: "Address or id" },
  { name: "model", label: "Model", kind: "text", hint: "Whole name" },
  {
    name: "result",
    label: "Result",
    kind: "choice",
    choices: RESULTS.map((value) => ({ value, label: RESULT_WORDS[value].label })),
  },
  { name: "occurred_from", label: "From", kind: "date" },
  { name: "occurred_to", label: "To", kind: "date" },
  {
    name: "bucket",
    label: "Figures per",
    kind: "choice",
    choices: BUCKETS.map((value) => ({ value, label: BUCKET_LABELS[value] })),
  },
  { name: "harness", label: "Agent", kind: "text", hint: "Whole name", isOptional: true },
  {
    name: "outcome",
    label: "Ended",
    kind: "choice",
    choices: OUTCOMES.map((value) => ({ value, label: OUTCOME_LABELS[value] })),
    isOptional: true,
  },
  { name: "profile_id", label: "Key", kind: "text", hint: "Id at the gateway", isOptional: true },
  { name: "run_id", label: "Run", kind: "text", hint: "Id", isOptional: true },
  { name: "min_tokens", label: "Tokens from", kind: "text", isOptional: true },
];

const textColumn = <Name extends string>(
  name: Name,
  label: string,
  value: (row: RowView) => string | null,
): Column<RowView, Name> => ({
  name,
  label,
  cell: (row) => <Text value={value(row)} />,
  csv: value,
});

const numberColumn = <Name extends string>(
  name: Name,
  label: string,
  value: (row: RowView) => number | null,
): Column<RowView, Name> => ({
  name,
  label,
  isNumber: true,
  cell: (row) => <Amount value={value(row)} />,
  csv: value,
});

/** The cell is a number already; an element inside it would make the page a tenth longer. */
function Amount({ value }: { value: number | null }) {
  const { language } = useReader();
  return value === null ? <Text value={null} /> : numberText(value, language);
}

const optionalColumn = <Name extends string>(column: Column<RowView, Name>): Column<RowView, Name> => ({
  ...column,
  isOptional: true,
});

export const REQUEST_COLUMNS: readonly Column<RowView, ListColumn<"/console/gateway/requests">>[] = [
  {
    name: "at",
    label: "When",
    cell: ({ occurredAtMs }) => <Time at={occurredAtMs} />,
    csv: ({ occurredAtMs }) => toRfc3339(occurredAtMs),
  },
  { ...textColumn("user", "User", ({ userEmail }) => userEmail), isWide: true },
  textColumn("model", "Model", ({ model }) => model),
  textColumn("agent", "Agent", ({ harness }) => harness),
  {
    name: "result",
    label: "Result",
    cell: (row) => <Result row={row} />,
    csv: ({ httpStatus }) => resultOf(httpStatus),
  },
  numberColumn("latency_ms", "Latency (ms)", ({ upstreamLatencyMs }) => upstreamLatencyMs),
  numberColumn("duration_ms", "Duration (ms)", ({ durationMs }) => durationMs),
  numberColumn("input_tokens", "Input tokens", ({ inputTokens }) => inputTokens),
  numberColumn("output_tokens", "Output tokens", ({ outputTokens }) => outputTokens),
  optionalColumn({ ...textColumn("path", "Path", ({ method, path }) => `${method} ${path}`), isWide: true }),
  optionalColumn(textColumn("outcome", "Ended", ({ outcome }) => outcome && OUTCOME_LABELS[outcome])),
  optionalColumn(textColumn("repository", "Repository", ({ repository }) => repository)),
  optionalColumn(textColumn("branch", "Branch", ({ branch }) => branch)),
  optionalColumn(textColumn("run", "Run", ({ runId }) => runId)),
  optionalColumn(textColumn("key", "Key", ({ profileName }) => profileName)),
  optionalColumn(textColumn("cost", "Cost (USD)", ({ upstreamCost }) => upstreamCost?.toString() ?? null)),
  optionalColumn(textColumn("request", "Request id", ({ requestId }) => requestId)),
  optionalColumn(numberColumn("status", "Status", ({ httpStatus }) => httpStatus)),
];

function Result({ row: { httpStatus, outcome, refusal, requestId } }: { row: RowView }) {
  if (outcome === null && requestId !== null) return <State tone="neutral">Running</State>;
  const { tone, label } = RESULT_WORDS[resultOf(httpStatus)];
  return (
    <>
      <State tone={tone}>{outcome === "refused" ? OUTCOME_LABELS.refused : label}</State>
      {refusal !== null && (
        <span class="detail">
          {" "}
          <Text value={refusal} />
        </span>
      )}
    </>
  );
}

interface RequestListProps {
  values: Values;
  page: RequestLogView | undefined;
  summary: ShownSummary | undefined;
  problems: readonly Problem[];
  /** the filters as the API and the commands take them */
  query: Values;
}

export function requestListPage({ values, page, summary, problems, query }: RequestListProps): ConsolePage {
  const { page: number = 1, perPage = 1, total = 0, items = [], isCapped = false, gaps = [] } = page ?? {};
  const list: List<RowView> = {
    noun: "requests",
    filters: FILTERS,
    columns: REQUEST_COLUMNS,
    rows: items,
    idOf: ({ id }) => id,
    paging: { page: number, perPage, total, isBound: isCapped },
    none: {
      text: (
        <>
          No request was recorded yet. Requests appear here once an agent sends one through the gateway: see{" "}
          <a href="/help/inference">Inference in the handbook</a>.
        </>
      ),
      purpose: "To let agents use models of the gateway, assign some on the server",
      command: ["gateway", "models", "assign", "codex", "gpt-5"],
    },
    problems,
    defaultSort: "-at",
    csvPath: REQUESTS_CSV_PATH,
    command: commandOf("list", query),
    api: { method: "GET", path: pathWith("/gateway/request-logs", new URLSearchParams(query)) },
  };
  return {
    title: "Requests",
    status: listStatus(list),
    isError: problems.length > 0,
    content: (
      <>
        <RequestFigures summary={summary} equivalents={summaryEquivalents(query, values.bucket)} />
        <Gaps gaps={gaps} />
        <ListView list={list} />
      </>
    ),
  };
}

function summaryEquivalents(query: Values, bucket: string | undefined): Equivalents {
  const parameters = new URLSearchParams({ ...query, ...(bucket !== undefined && { bucket }) });
  return {
    command: commandOf("summary", { ...query, bucket: bucket ?? "" }),
    api: { method: "GET", path: pathWith("/gateway/request-logs/summary", parameters) },
  };
}

function commandOf(verb: "list" | "summary", query: Values): string[] {
  const {
    profile_id: profile,
    user_id: user,
    occurred_from: from,
    occurred_to: to,
    run_id: run,
    min_tokens: least,
    ...same
  } = query;
  return [
    "gateway",
    "logs",
    verb,
    ...options({ user, ...same, profile, run, "min-tokens": least, from, to }),
  ];
}

/** Says which requests are missing from the list. */
const Gaps = ({ gaps }: { gaps: readonly Gap[] }) => (
  <div id="gaps" data-region>
    {gaps.map(({ fromMs, toMs, count, cause }) => (
      <p key={`${fromMs} ${cause}`} class="notice attention">
        <Count value={count} /> requests from <Time at={fromMs} /> to <Time at={toMs} /> are missing, because{" "}
        {DROP_REASONS[cause]}.
      </p>
    ))}
  </div>
);
