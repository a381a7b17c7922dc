// The audit log in the console: the list with its CSV file, single entries, and the verification of the chain.

import { Type } from "@sinclair/typebox";
import { AUDIT_ACTIONS } from "../../../domain/audit/actions.ts";
import type { AuditLog, KeyedAuditQuery } from "../../../domain/audit/log.ts";
import { breakText } from "../../../domain/audit/reading/break-text.ts";
import type { NamedEntry } from "../../../domain/audit/reading/entry-document.ts";
import { readAuditQuery } from "../../../domain/audit/reading/log-query.ts";
import { PER_PAGE_DEFAULT, WALK_PAGE_MAX } from "../../../domain/shared/page.ts";
import { SECOND_MS, toRfc3339, within } from "../../../platform/clock.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import type { Console } from "../../console/console.ts";
import { csvResponse, csvRoute } from "../../console/list/csv.ts";
import { dayEndIn, dayIn } from "../../console/list/days.ts";
import { found, listValues } from "../../console/list/list.ts";
import type { Reader } from "../../console/reader.ts";
import { VERIFY_PATH } from "../../console/system/audit-chain.tsx";
import { auditEntryPage } from "../../console/system/audit-entry.tsx";
import {
  AUDIT_COLUMNS,
  AUDIT_CSV_PATH,
  AUDIT_PATH,
  type AuditTimes,
  auditListPage,
} from "../../console/system/audit-list.tsx";
import { FormField, formOf, formOperation, formRoute, pageRoute } from "../../pages/html.ts";
import type { RouteContext } from "../../router.ts";

/** How long a form waits for a verification, which then continues in the background. */
const VERIFY_WAIT_MS = 5 * SECOND_MS;

/**
 * @returns the period of the days in the address, in the reader's zone: from the beginning of the first day to the end
 * of the last one
 */
function timesOf(reader: Reader, problems: Problem[] = []): AuditTimes {
  const { since, until } = listValues(reader);
  const { zone } = reader;
  const sinceMs = dayIn(since, { name: "since", zone, problems });
  const untilMs = dayEndIn(until, { name: "until", zone, problems });
  return {
    since: sinceMs === undefined ? undefined : toRfc3339(sinceMs),
    until: untilMs === undefined ? undefined : toRfc3339(untilMs),
  };
}

/** @returns the query of the domain */
function auditQuery(reader: Reader): KeyedAuditQuery {
  const { actor, action, target, cursor, per_page: limit } = listValues(reader);
  const problems: Problem[] = [];
  const times = timesOf(reader, problems);
  if (action !== undefined && !AUDIT_ACTIONS.includes(action))
    problems.push({ pointer: "/action", detail: "action must be one of the list" });
  const query = readOrNote({
    actor,
    action,
    target,
    ...times,
    cursor,
    limit: limit ?? String(PER_PAGE_DEFAULT),
  });
  if (query.problems) problems.push(...query.problems);
  if (problems.length > 0 || !query.read)
    throw new DomainError("invalid", "audit.invalid", "the filters cannot be used", { problems });
  return query.read;
}

/** @returns the query, or its problems with the names of the list's address */
function readOrNote(sent: Parameters<typeof readAuditQuery>[0]) {
  try {
    return { read: readAuditQuery(sent) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const problems = error.problems.map(({ pointer, detail }) =>
      pointer === "/limit"
        ? { pointer: "/per_page", detail: detail.replace("limit", "the number of rows") }
        : { pointer, detail },
    );
    return { problems };
  }
}

/** Reads the list page by page, by key. */
function* pagesOf(
  auditLog: AuditLog,
  organizationId: string,
  query: KeyedAuditQuery,
): Generator<readonly NamedEntry[]> {
  let { after } = query;
  for (;;) {
    const { items, next } = auditLog.listByKey(organizationId, { ...query, after, limit: WALK_PAGE_MAX });
    yield items;
    if (next === null) return;
    after = items.at(-1);
  }
}

export function auditPages({ router, domain }: RouteContext, console: Console) {
  const { auditLog, exports } = domain;

  return router
    .get(
      AUDIT_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const { rows, problems } = await found(() =>
            auditLog.listByKey(reader.organizationId, auditQuery(reader)),
          );
          const chain = auditLog.verificationState;
          const times = timesOf(reader);
          return auditListPage({ values: listValues(reader), times, page: rows, problems, chain });
        }),
      pageRoute("showAuditPage", "The audit log as a list"),
    )
    .get(
      AUDIT_CSV_PATH,
      ({ request }) =>
        console.show(request, "administrator", (reader) => {
          const { actor, organizationId, url } = reader;
          return csvResponse({
            name: "audit.csv",
            columns: AUDIT_COLUMNS,
            pages: pagesOf(auditLog, organizationId, auditQuery(reader)),
            recordExport: (rows) => exports.record(actor, { list: "audit", filter: url.search, rows }),
          });
        }),
      csvRoute("downloadAuditEntries", "The entries of the list as CSV"),
    )
    .get(
      `${AUDIT_PATH}/:id`,
      ({ request, params }) =>
        console.show(request, "administrator", ({ organizationId }) =>
          auditEntryPage(auditLog.find(organizationId, params.id)),
        ),
      { ...pageRoute("showAuditEntryPage", "One audit entry"), params: Type.Object({ id: Type.String() }) },
    )
    .post(
      VERIFY_PATH,
      ({ request, body }) =>
        console.act(request, body, { needs: "administrator", back: AUDIT_PATH }, async () => {
          const verification = await within(VERIFY_WAIT_MS, auditLog.verifyTogether());
          if (verification?.broken)
            return {
              to: AUDIT_PATH,
              notice: { kind: "attention", text: `The chain is broken: ${breakText(verification.broken)}.` },
            };
          return {
            to: AUDIT_PATH,
            notice: verification
              ? "The chain is intact."
              : "The verification continues. This page will show its result.",
          };
        }),
      formRoute(
        formOf({ csrf: FormField, by: FormField }),
        formOperation("sendAuditVerification", "Verifies the chain of audit entries"),
      ),
    );
}
