// API for the audit log: pages by key, one entry with its neighbors in the chain, verification, and everything as JSON Lines.
import { Type } from "@sinclair/typebox";
import type { AuditRow } from "../../../domain/audit/chain.ts";
import {
  AuditEntryInChain,
  AuditEntryList,
  AuditVerification,
  entryDocument,
  entryInChainDocument,
  namedDocument,
  verificationDocument,
} from "../../../domain/audit/reading/entry-document.ts";
import { FILTER_LENGTH_MAX, readAfter, readAuditQuery } from "../../../domain/audit/reading/log-query.ts";
import { toKeyedEnvelope } from "../../../domain/shared/page.ts";
import { principalOf } from "../../http/exchange.ts";
import { KeyedParameters, parameter } from "../../http/paging.ts";
import { json, jsonLines } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const text = (description: string) => parameter({ maxLength: FILTER_LENGTH_MAX, description });
const AuditParameters = Type.Object(
  {
    actor: text("Only by this user id or label: an email address, a login name, a token, a job"),
    action: text("Only this action, such as `user.update`"),
    target: text("Only changes to the object with this id"),
    since: text("Only from this time: RFC 3339, or a day in UTC"),
    until: text("Only before this time"),
    ...KeyedParameters,
  },
  { additionalProperties: false },
);
const ExportParameters = Type.Object(
  {
    after: parameter({ type: "integer", minimum: 0, description: "Only entries after the one with this id" }),
  },
  { additionalProperties: false },
);

const AuditLines = Type.String({
  description: "Each line has the members of a list entry except target_name",
});

const describe = operationsOf("Administration");
const described = {
  list: describe("listAuditEntries", "Audit entries, newest first", {
    200: { description: "Page by key", schema: AuditEntryList },
  }),
  find: describe("getAuditEntry", "One audit entry with its neighbors in the chain", {
    200: { description: "Entry", schema: AuditEntryInChain },
  }),
  verify: describe("verifyAuditLog", "Verify every entry of the audit log and the order of the chain", {
    200: { description: "The result, for an intact and for a broken log", schema: AuditVerification },
  }),
  export: describe("exportAuditLog", "The whole audit log as JSON Lines, oldest first", {
    200: { description: "One entry per line", schema: AuditLines, mediaType: "application/jsonl" },
  }),
};

export function auditRoutes({ router, domain }: RouteContext) {
  const { auditLog } = domain;

  return router
    .get(
      "/admin/audit",
      ({ request, query }) => {
        const { organizationId } = principalOf(request);
        return json(
          toKeyedEnvelope(auditLog.listByKey(organizationId, readAuditQuery(query)), namedDocument),
        );
      },
      { requires: "administrator", query: AuditParameters, detail: described.list },
    )
    .get(
      "/admin/audit/:id",
      ({ request, params }) =>
        json(entryInChainDocument(auditLog.find(principalOf(request).organizationId, params.id))),
      { requires: "administrator", params: Type.Object({ id: Type.String() }), detail: described.find },
    )
    .post("/admin/audit/verify", async () => json(verificationDocument(await auditLog.verifyTogether())), {
      requires: "administrator",
      accepts: "nothing",
      detail: described.verify,
    })
    .get(
      "/admin/audit.jsonl",
      ({ query }) => jsonLines(linesOf(auditLog.walk({ after: readAfter(query.after) }))),
      {
        requires: "administrator",
        query: ExportParameters,
        detail: described.export,
      },
    );
}

async function* linesOf(pages: AsyncIterable<AuditRow[]>): AsyncGenerator<string> {
  for await (const page of pages)
    yield page.map((entry) => `${JSON.stringify(entryDocument(entry))}\n`).join("");
}
