// `gateway logs list` and `gateway logs tail`: read the file of the request log, whether or not the service runs.
import { setTimeout as pause } from "node:timers/promises";
import { LogFollower } from "../../../src/domain/inference/log/follow.ts";
import type { Gap } from "../../../src/domain/inference/log/model.ts";
import type { LogFilterQuery } from "../../../src/domain/inference/log/query.ts";
import { type RowView, toRequestLogItem } from "../../../src/domain/inference/log/wire.ts";
import { toRfc3339 } from "../../../src/platform/clock.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { parseWholeNumber } from "../../input/whole-number.ts";
import { PAGE_ROWS_MAX, printPages } from "../../output/list-pages.ts";
import type { Column } from "../../output/table.ts";
import { timesOf } from "./period.ts";

/** How often `tail` looks for new rows. */
const CHECK_EVERY_MS = 500;

const COLUMNS: readonly Column<RowView>[] = [
  { header: "AT", value: ({ occurredAtMs }) => new Date(occurredAtMs) },
  { header: "EMAIL", value: ({ userEmail }) => userEmail },
  { header: "PATH", value: ({ path }) => path },
  { header: "MODEL", value: ({ model }) => model },
  { header: "STATUS", value: ({ httpStatus }) => httpStatus },
  { header: "OUTCOME", value: ({ outcome }) => outcome },
  { header: "MS", value: ({ durationMs }) => durationMs },
  { header: "INPUT", value: ({ inputTokens }) => inputTokens },
  { header: "OUTPUT", value: ({ outputTokens }) => outputTokens },
  { header: "HARNESS", value: ({ harness }) => harness, isWide: true },
  { header: "REPOSITORY", value: ({ repository }) => repository, isWide: true },
  { header: "BRANCH", value: ({ branch }) => branch, isWide: true },
  { header: "RUN", value: ({ runId }) => runId, isWide: true },
  { header: "REFUSAL", value: ({ refusal }) => refusal, isWide: true },
  { header: "ID", value: ({ id }) => id, isWide: true },
];

export async function list(call: Call): Promise<void> {
  const { domain } = call;
  const wanted = filterOf(call);
  const gaps = new Map<string, Gap>();
  const listing = { columns: COLUMNS, json: toRequestLogItem, empty: "no requests" };
  await printPages(
    call,
    (query, after) => {
      const page = domain.requestLogs.listNow({ ...wanted, ...query, after });
      for (const gap of page.gaps) gaps.set(`${gap.fromMs} ${gap.cause}`, gap);
      return page;
    },
    listing,
  );
  warnOfGaps(call, [...gaps.values()]);
}

/** @returns the filters of the options @throws DomainError `user.not_found`, `usage.*` */
export function filterOf(call: Call): LogFilterQuery {
  const { text } = call;
  return {
    userId: userIdOf(call),
    model: text("model"),
    harness: text("harness"),
    result: text("result"),
    outcome: text("outcome"),
    runId: text("run"),
    profileId: text("profile"),
    minTokens: parseWholeNumber("--min-tokens", text("minTokens"), { max: Number.MAX_SAFE_INTEGER }),
    occurred: timesOf(call),
  };
}

/** @returns the id of the user that `--user` names, who may be removed @throws DomainError `user.not_found` */
export function userIdOf({ domain, actor, text }: Call): string | undefined {
  const reference = text("user");
  return reference === undefined ? undefined : domain.identity.users.find(actor.organizationId, reference).id;
}

/** Warns about rows that are missing from the printed list. */
export function warnOfGaps({ output }: Pick<Call, "output">, gaps: readonly Gap[]): void {
  for (const { fromMs, toMs, count, cause } of gaps)
    output.warning(`${count} rows from ${toRfc3339(fromMs)} to ${toRfc3339(toMs)} were dropped: ${cause}`);
}

/** An interrupt ends it without an error. */
export async function tail(call: Call): Promise<void> {
  const { domain, context, output, text, has } = call;
  const signal = has("follow") ? context.stopSignal() : AbortSignal.abort();
  const limit = parseWholeNumber("--limit", text("limit"), { max: PAGE_ROWS_MAX }) ?? 0;
  await output.stream(followed(new LogFollower(domain.requestLogs, limit), signal), {
    json: toRequestLogItem,
    text: lineOf,
  });
}

async function* followed(follower: LogFollower, signal: AbortSignal): AsyncGenerator<RowView> {
  yield* follower.next();
  while (!signal.aborted) {
    await pause(CHECK_EVERY_MS, undefined, { signal }).catch(() => {}); // interrupted: the loop ends
    yield* follower.next();
  }
}

const lineOf = (row: RowView): string =>
  [
    toRfc3339(row.occurredAtMs),
    row.userEmail,
    row.method,
    row.path,
    row.model ?? "-",
    row.httpStatus ?? "-",
    row.outcome ?? "-",
    `${row.durationMs ?? row.upstreamLatencyMs} ms`,
    `${row.inputTokens ?? "-"} in`,
    `${row.outputTokens ?? "-"} out`,
    ...(row.refusal === null ? [] : [row.refusal]),
  ].join("  ");
