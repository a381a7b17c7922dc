// The requests to the gateway in the console: figures, list and file. Days of the address are days of the reader's zone.
import type { Domain } from "../../../../domain/domain.ts";
import type { LogFilterQuery } from "../../../../domain/inference/log/query.ts";
import type { RowView } from "../../../../domain/inference/log/wire.ts";
import { WALK_PAGE_MAX } from "../../../../domain/shared/page.ts";
import { DomainError, type Problem } from "../../../../platform/errors.ts";
import type { Console } from "../../../console/console.ts";
import type { ConsolePage } from "../../../console/frame/frame.tsx";
import { featureOffPage } from "../../../console/frame/refusals.tsx";
import type { ShownSummary } from "../../../console/gateway/request-figures.tsx";
import { REQUEST_COLUMNS, requestListPage } from "../../../console/gateway/request-list.tsx";
import { REQUESTS_CSV_PATH, REQUESTS_PATH } from "../../../console/gateway/words.ts";
import { csvResponse, csvRoute, walkPages } from "../../../console/list/csv.ts";
import { dayEndIn, dayIn, sameRange } from "../../../console/list/days.ts";
import {
  found,
  lastPageAddress,
  listValues,
  numberIn,
  placeIn,
  type Values,
} from "../../../console/list/list.ts";
import type { Reader } from "../../../console/reader.ts";
import { pageRoute, seeOther } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { userIdOf } from "../fleet-queries.ts";

export function gatewayRequestPages({ router, domain }: RouteContext, console: Console) {
  const { requestLogs, exports } = domain;
  const isOff = (reader: Reader): ConsolePage | undefined =>
    console.has("gateway") ? undefined : featureOffPage("Requests", { setting: "gateway.type", reader });

  const listPage = async (reader: Reader) => {
    const values = listValues(reader);
    const { query, problems: wrong } = await readFilter(domain, reader, values);
    const [list, figures] = await Promise.all([
      found(() => requestLogs.list({ ...query, ...placeIn(values) }), wrong),
      found(() => summaryOf(domain, { query, zone: reader.zone, bucket: values.bucket })),
    ]);
    const last = list.rows && lastPageAddress(reader, list.rows);
    if (last) return seeOther(last);
    const problems = distinct([...(list.problems ?? []), ...(figures.problems ?? [])]);
    const isWrong = problems.length > 0;
    return requestListPage({
      values,
      page: isWrong ? undefined : list.rows,
      summary: isWrong ? undefined : figures.rows,
      problems,
      query: apiQuery(values, query.userId, reader),
    });
  };

  const file = async (reader: Reader) => {
    const { actor, url } = reader;
    const { query, problems } = await readFilter(domain, reader, listValues(reader));
    const walk = { ...query, perPage: WALK_PAGE_MAX, isWalk: true, known: 0 };
    const { rows: pages } = await found(
      () => walkPages<RowView>(async (after) => (await requestLogs.list({ ...walk, after })).items),
      problems,
    );
    if (!pages) return seeOther(`${REQUESTS_PATH}${url.search}`); // shows the problems of the filters
    return csvResponse({
      name: "requests.csv",
      columns: REQUEST_COLUMNS,
      pages,
      recordExport: (rows) => exports.record(actor, { list: "requests", filter: url.search.slice(1), rows }),
    });
  };

  return router
    .get(
      REQUESTS_PATH,
      ({ request }) => console.show(request, "administrator", (reader) => isOff(reader) ?? listPage(reader)),
      pageRoute("showGatewayRequestsPage", "Requests to the gateway: figures and list"),
    )
    .get(
      REQUESTS_CSV_PATH,
      ({ request }) => console.show(request, "administrator", (reader) => isOff(reader) ?? file(reader)),
      csvRoute("downloadGatewayRequests", "The requests of the list as CSV"),
    );
}

/** @returns the query of the address; days are days of the reader's zone */
async function readFilter(domain: Domain, { organizationId, zone }: Reader, values: Values) {
  const problems: Problem[] = [];
  const { q, model, harness, result, outcome, profile_id: profileId, run_id: runId, user: text } = values;
  const query: LogFilterQuery & { q: string | undefined } = {
    q,
    model,
    harness,
    result,
    outcome,
    profileId,
    runId,
    userId: await userIdOf(domain, { organizationId, text, problems }),
    minTokens: numberIn(values.min_tokens),
    fromMs: dayIn(values.occurred_from, { name: "occurred_from", zone, problems }),
    beforeMs: dayEndIn(values.occurred_to, { name: "occurred_to", zone, problems }),
  };
  return { query, problems };
}

/** If the figures are not ready, the list is shown without them. */
async function summaryOf(
  { requestLogs }: Domain,
  { query, zone, bucket }: { query: LogFilterQuery; zone: string; bucket: string | undefined },
): Promise<ShownSummary> {
  try {
    const view = await requestLogs.summary({ ...query, bucket, zone, by: ["model", "user"] });
    return { view };
  } catch (error) {
    if (error instanceof DomainError && error.kind === "unavailable") return { refusal: error.message };
    throw error;
  }
}

const distinct = (problems: readonly Problem[]): Problem[] => [
  ...new Map(problems.map((problem) => [`${problem.pointer} ${problem.detail}`, problem])).values(),
];

const SAME = ["q", "model", "harness", "result", "outcome", "profile_id", "run_id", "min_tokens"];

/** @returns the filters as the API takes them */
function apiQuery(values: Values, userId: string | undefined, { zone }: Reader): Values {
  const { from, to } = sameRange({ from: values.occurred_from, to: values.occurred_to }, zone);
  const same = SAME.map((name) => [name, values[name]] as const);
  const given = [...same, ["occurred_from", from], ["occurred_to", to], ["user_id", userId]] as const;
  return Object.fromEntries(given.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
