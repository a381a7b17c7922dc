// The history of the policy in the console: all revisions, newest first, as a list and as a CSV file.
import { DomainError, type Problem } from "../../../../platform/errors.ts";
import type { Console } from "../../../console/console.ts";
import { csvRoute, walkPages } from "../../../console/list/csv.ts";
import { found, listValues, numberIn } from "../../../console/list/list.ts";
import { HISTORY_COLUMNS, type HistoryRow, historyPage } from "../../../console/policy/history-list.tsx";
import { HISTORY_PATH } from "../../../console/policy/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { pageRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { exportResponse } from "../lists/list-export.ts";

export function historyPages({ router, domain }: RouteContext, console: Console) {
  const { clients, governance } = domain;
  const { revisions } = governance;
  return router
    .get(
      HISTORY_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const { organizationId } = reader;
          const { cursor } = listValues(reader);
          const unused = unusedIn(reader);
          const { rows, problems } = await found(
            () => revisions.list(organizationId, beforeIn(cursor)),
            unused,
          );
          const counts = await clients.rollouts.sharedOnRevisions(organizationId);
          const last = rows?.at(-1)?.sequence ?? 1;
          return historyPage({
            rows: rows?.map((row) => ({ ...row, clients: counts.get(row.id) ?? 0 })),
            next: last > 1 ? last : null,
            isFirst: cursor === undefined,
            problems,
          });
        }),
      pageRoute("showPolicyHistory", "Revisions of the policy, the newest first"),
    )
    .get(
      `${HISTORY_PATH}.csv`,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const { organizationId } = reader;
          const counts = await clients.rollouts.sharedOnRevisions(organizationId);
          const pages = await walkPages<HistoryRow>(async (after) =>
            revisions
              .list(organizationId, after?.sequence)
              .map((row) => ({ ...row, clients: counts.get(row.id) ?? 0 })),
          );
          return exportResponse(domain, reader, { list: "policy-history", columns: HISTORY_COLUMNS, pages });
        }),
      csvRoute("downloadPolicyHistory", "Revisions of the policy as a CSV file"),
    );
}

/** Refuses parameters of other lists, because ignoring them would look like a result. */
const unusedIn = ({ url }: Reader): Problem[] =>
  ["page", "per_page", "sort", "q"]
    .filter((name) => url.searchParams.has(name))
    .map((name) => ({
      pointer: `/${name}`,
      detail: "the history has a fixed order and page size",
    }));

/** @throws DomainError `policy.invalid` */
function beforeIn(cursor: string | undefined): number | undefined {
  const before = numberIn(cursor);
  if (!Number.isNaN(before)) return before;
  const problems = [{ pointer: "/cursor", detail: "must be the number of a revision" }];
  throw new DomainError("invalid", "policy.invalid", "the address cannot be used", { problems });
}
