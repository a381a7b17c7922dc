// The audit log in the console.

import type { Problem } from "../../../platform/errors.ts";
import type { Console } from "../../console/console.ts";
import { dayIn } from "../../console/list/days.ts";
import { found, listValues, numberIn, type Values } from "../../console/list/list.ts";
import type { Reader } from "../../console/reader.ts";
import { AUDIT_PATH, auditListPage } from "../../console/system/audit-list.tsx";
import { pageRoute } from "../../pages/html.ts";
import { createRouter, type RouteContext } from "../../router.ts";

/** @returns the query of the domain, and what is wrong with the days */
function auditQuery({ actor, action, target, since, until }: Values, { zone }: Reader) {
  const problems: Problem[] = [];
  return {
    problems,
    query: {
      ...{ actor, action, target },
      sinceMs: dayIn(since, { name: "since", zone, problems }),
      beforeMs: dayIn(until, { name: "until", zone, problems }),
    },
  };
}

/** @returns the pages of the audit log */
export function auditPages({ guard, domain }: RouteContext, console: Console) {
  const { auditLog } = domain;

  return createRouter(guard, "console-audit").get(
    AUDIT_PATH,
    ({ request }) =>
      console.show(request, "administrator", async (reader) => {
        const values = listValues(reader);
        const { query, problems: wrongDays } = auditQuery(values, reader);
        const place = {
          page: numberIn(values.page),
          perPage: numberIn(values.per_page),
          known: numberIn(values.known),
        };
        const { rows, problems } = await found(
          () => auditLog.list(reader.organizationId, { ...query, ...place }),
          wrongDays,
        );
        return auditListPage({ values, page: rows, problems });
      }),
    pageRoute("showAuditPage", "The audit log as a list"),
  );
}
