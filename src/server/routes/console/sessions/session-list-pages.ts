// The list of captured sessions in the console, and its file.
import { HARNESS_KEYS } from "../../../../domain/harnesses/harnesses.ts";
import type { SessionQuery } from "../../../../domain/sessions/lists/list-query.ts";
import type { SessionView } from "../../../../domain/sessions/service.ts";
import { type Page, readWord } from "../../../../domain/shared/page.ts";
import { invariant, type Problem } from "../../../../platform/errors.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import type { Console } from "../../../console/console.ts";
import { csvRoute, walkPages } from "../../../console/list/csv.ts";
import { dayRangeIn, sameRange } from "../../../console/list/days.ts";
import { found, lastPageAddress, listValues, placeIn, type Values } from "../../../console/list/list.ts";
import type { Reader } from "../../../console/reader.ts";
import { MINE, SESSION_COLUMNS, sessionListPage } from "../../../console/sessions/session-list.tsx";
import { readingViewer } from "../../../console/sessions/viewers.ts";
import { SESSIONS_CSV_PATH, SESSIONS_PATH } from "../../../console/sessions/words.ts";
import { pageRoute, seeOther } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { userIdOf } from "../fleet-queries.ts";
import { exportResponse } from "../lists/list-export.ts";

/** The address has `-updated`, the domain `updated_desc`. */
const SORTS: Readonly<Record<string, string>> = { "-updated": "updated_desc", updated: "updated_asc" };

export function sessionListPages({ router, domain }: RouteContext, console: Console) {
  const { lists } = domain.sessions;

  const numberedPage = async (reader: Reader, query: SessionQuery): Promise<Page<SessionView>> => {
    const page = await runInTurns(lists.list(readingViewer(reader), query));
    invariant(page.mode === "numbered", "a query with a page has numbered pages");
    return page;
  };

  const listPage = async (reader: Reader) => {
    const { readsAll, organizationId, visitor } = reader;
    const values = listValues(reader);
    const { query, problems: wrong } = await queryIn(domain, reader, values);
    const { page: number = 1, ...place } = placeIn(values);
    const wanted = { ...query, page: number, ...place };
    const { rows: page, problems } = await found(() => numberedPage(reader, wanted), wrong);
    const last = page && lastPageAddress(reader, page);
    if (last) return seeOther(last);
    const policy = domain.governance.revisions.current(organizationId)?.document;
    return sessionListPage({
      readsAll,
      email: visitor.principal.email,
      values,
      page,
      problems,
      isCapturing: policy?.session_upload !== undefined,
      days: sameRange({ from: values.updated_from, to: values.updated_to }, reader.zone),
      query: apiQuery(values, query, reader),
    });
  };

  const file = async (reader: Reader) => {
    const { query, problems: wrong } = await queryIn(domain, reader, listValues(reader));
    const viewer = readingViewer(reader);
    const { rows: pages } = await found(
      () => walkPages<SessionView>(async (after) => await runInTurns(lists.following(viewer, query, after))),
      wrong,
    );
    if (!pages) return seeOther(`${SESSIONS_PATH}${reader.url.search}`); // shows the problems of the filters
    return exportResponse(domain, reader, { list: "sessions", columns: SESSION_COLUMNS, pages });
  };

  return router
    .get(
      SESSIONS_PATH,
      ({ request }) => console.show(request, "anyone", listPage),
      pageRoute("showSessionsPage", "Captured sessions that the reader may see"),
    )
    .get(
      SESSIONS_CSV_PATH,
      ({ request }) => console.show(request, "anyone", file),
      csvRoute("downloadSessions", "The captured sessions of the list as CSV"),
    );
}

/** @returns the query of a list, and problems with its filters */
async function queryIn(
  domain: RouteContext["domain"],
  { organizationId, readsAll, zone }: Reader,
  values: Values,
): Promise<{ query: SessionQuery; problems: Problem[] }> {
  const problems: Problem[] = [];
  const { q, whose, harness, status, sort, updated_from: from, updated_to: to } = values;
  const text = readsAll ? values.user : undefined;
  const isMine = whose === MINE;
  if (whose !== undefined && !isMine)
    problems.push({ pointer: "/whose", detail: `whose must be ${MINE} or absent` });
  if (isMine && text !== undefined)
    problems.push({ pointer: "/user", detail: "an owner cannot be combined with “Mine only”" });
  const query: SessionQuery = {
    q,
    harness: readWord(harness, { name: "harness", words: HARNESS_KEYS, problems }),
    status,
    isOwn: isMine,
    userId: await userIdOf(domain, { organizationId, text, problems }),
    updatedIn: dayRangeIn({ from, to, name: "updated", zone, problems }),
    sort: sort && (SORTS[sort] ?? sort),
  };
  return { query, problems };
}

/** @returns the filters in the format of the API; undefined for a member's own sessions, which the API cannot filter */
function apiQuery(
  values: Values,
  { userId, isOwn, sort }: SessionQuery,
  { readsAll, visitor, zone }: Reader,
): Values | undefined {
  if (isOwn && !readsAll) return undefined;
  const { q, harness, status, updated_from, updated_to } = values;
  const { from, to } = sameRange({ from: updated_from, to: updated_to }, zone);
  const user_id = isOwn ? visitor.principal.userId : userId;
  const query = { page: "1", q, harness, status, updated_from: from, updated_to: to, user_id, sort };
  return Object.fromEntries(
    Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
