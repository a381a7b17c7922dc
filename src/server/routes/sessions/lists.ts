// Reads captured sessions: lists, one session with its versions, and values for filters and sharing.
import { Type } from "@sinclair/typebox";
import { SESSION_SORTS } from "../../../domain/sessions/lists/list-query.ts";
import { toWireDetail, toWireSession } from "../../../domain/sessions/lists/wire.ts";
import { ARTIFACT_STATUSES } from "../../../domain/sessions/model.ts";
import type { SessionPage } from "../../../domain/sessions/service.ts";
import { FIRST_TIME, LAST_TIME } from "../../../domain/shared/day-range.ts";
import { pageEnvelope, SEARCH_LENGTH_MAX, toPageEnvelope } from "../../../domain/shared/page.ts";
import { runInTurns } from "../../../platform/steps.ts";
import { viewerOf } from "../../auth/viewer.ts";
import { PageParameters, parameter, toPageQuery, toWholeNumber, Uuid } from "../../http/paging.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";
import { nullable, SessionPath, SharingModeWord, UserRef } from "./schemas.ts";

const time = () => Type.String({ format: "date-time" });
const text = () => nullable({});

const CapturedSession = Type.Object({
  id: Uuid,
  user_id: Uuid,
  user_email: Type.String({ format: "email" }),
  harness: Type.String(),
  compatibility_profile: Type.String(),
  native_session_id: Type.String(),
  cwd: text(),
  artifact_format: Type.String(),
  resumable: Type.Boolean(),
  title: text(),
  summary: text(),
  source_captured_at: nullable({ format: "date-time" }),
  repository: Type.Object({ root: text(), remote: text() }),
  sharing_mode: SharingModeWord,
  share_recipient_count: Type.Integer({ minimum: 0 }),
  shared: Type.Optional(
    Type.Boolean({ description: "Only with resumable=true: whether somebody else owns it" }),
  ),
  updated_at: time(),
  status: nullable({ enum: [...ARTIFACT_STATUSES, null], description: "Of the current version" }),
  size_bytes: Type.Unsafe<number | null>({ type: ["integer", "null"] }),
  content_type: text(),
  retention_expires_at: nullable({ format: "date-time" }),
});

const CapturedSessionList = Type.Union([
  pageEnvelope(CapturedSession),
  Type.Object({ items: Type.Array(CapturedSession), next_cursor: nullable({ format: "uuid" }) }),
]);

const CapturedSessionDetail = Type.Object({
  session: CapturedSession,
  sharing: Type.Object({ user_ids: Type.Array(Uuid), recipient_count: Type.Integer({ minimum: 0 }) }),
  artifacts: Type.Array(
    Type.Object({
      id: Uuid,
      sha256: Type.String(),
      size_bytes: Type.Integer({ minimum: 0 }),
      content_type: Type.String(),
      status: Type.Unsafe<string>({ type: "string", enum: ARTIFACT_STATUSES }),
      created_at: time(),
      completed_at: nullable({ format: "date-time" }),
      retention_expires_at: nullable({ format: "date-time" }),
      failure_reason: text(),
    }),
  ),
});

const uuid = (description: string) => parameter({ type: "string", format: "uuid", description });

const ListParameters = Type.Object(
  {
    ...PageParameters,
    limit: parameter({
      type: "integer",
      minimum: 1,
      maximum: 100,
      description: "Without page numbers; default 50",
    }),
    cursor: uuid("Id of the last session of the previous page"),
    harness: parameter({ type: "string", description: "Exact name" }),
    user_id: uuid("The owner; for administrators only"),
    status: parameter({ type: "string", enum: ARTIFACT_STATUSES }),
    updated_from: parameter({ description: FIRST_TIME }),
    updated_to: parameter({ description: LAST_TIME }),
    sort: parameter({
      type: "string",
      enum: SESSION_SORTS,
      description: `${SESSION_SORTS[0]} if omitted`,
    }),
    resumable: parameter({ type: "boolean", description: "Own and shared portable sessions only" }),
  },
  { additionalProperties: false },
);

const FacetParameters = Type.Object(
  {
    user_q: parameter({ maxLength: SEARCH_LENGTH_MAX, description: "Part of an owner's address" }),
    selected_user_id: uuid("This user is listed first, even if user_q does not match"),
  },
  { additionalProperties: false },
);
const MemberParameters = Type.Object(
  { q: parameter({ maxLength: SEARCH_LENGTH_MAX, description: "Part of an address" }) },
  { additionalProperties: false },
);

const describe = operationsOf("Sessions");

const described = {
  list: describe("listSessionUploads", "Captured sessions the caller may see", {
    200: { description: "Numbered page or cursor page", schema: CapturedSessionList },
  }),
  facets: describe("getSessionUploadFacets", "Owners and harnesses among visible sessions", {
    200: {
      description: "Facets",
      schema: Type.Object({ users: Type.Array(UserRef), harnesses: Type.Array(Type.String()) }),
    },
  }),
  members: describe("searchSessionShareMembers", "Active colleagues to share with", {
    200: { description: "Matches", schema: Type.Object({ items: Type.Array(UserRef) }) },
  }),
  detail: describe("getSessionUpload", "One session with its versions", {
    200: { description: "Detail; versions newest first", schema: CapturedSessionDetail },
  }),
};

export function sessionListRoutes({ router, domain }: RouteContext) {
  const { lists, facets, detail } = domain.sessions;
  return router
    .get(
      "/session-uploads",
      async ({ request, query }) => {
        const viewer = viewerOf(request);
        return json(toWirePage(await runInTurns(lists.list(viewer, toListQuery(query))), viewer.userId));
      },
      { requires: "anyone", query: ListParameters, detail: described.list },
    )
    .get(
      "/session-uploads/facets",
      async ({ request, query }) => {
        const wanted = { userQ: query.user_q, selectedUserId: query.selected_user_id };
        return json(await runInTurns(facets.facets(viewerOf(request), wanted)));
      },
      { requires: "anyone", query: FacetParameters, detail: described.facets },
    )
    .get(
      "/session-uploads/members",
      async ({ request, query }) =>
        json({ items: await runInTurns(facets.members(viewerOf(request), query.q)) }),
      { requires: "anyone", query: MemberParameters, detail: described.members },
    )
    .get(
      "/session-uploads/:id",
      async ({ request, params }) =>
        json(toWireDetail(await runInTurns(detail(viewerOf(request), params.id)))),
      { requires: "anyone", params: SessionPath, detail: described.detail },
    );
}

type ListParametersValue = (typeof ListParameters)["static"];

const toListQuery = ({
  limit,
  user_id: userId,
  updated_from: from,
  updated_to: to,
  ...query
}: ListParametersValue) => ({
  ...toPageQuery(query),
  limit: toWholeNumber(limit),
  cursor: query.cursor,
  harness: query.harness,
  status: query.status,
  sort: query.sort,
  resumable: query.resumable,
  userId,
  updated: { from, to },
});

function toWirePage(page: SessionPage, viewerId: string) {
  if (page.mode === "numbered") return toPageEnvelope(page, toWireSession);
  const items = page.items.map((session) => ({
    ...toWireSession(session),
    ...(page.mode === "resumable" && { shared: session.userId !== viewerId }),
  }));
  return { items, next_cursor: page.nextCursor };
}
