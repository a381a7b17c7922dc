// All SCIM 2.0 routes for identity providers (RFC 7644). Handlers only pass requests to src/domain/scim and return its
// answers.

import { BULK_OPERATIONS_MAX } from "../../domain/scim/bulk/model.ts";
import { ScimError, scimInvalid, scimNotFound } from "../../domain/scim/errors.ts";
import { fieldsOf } from "../../domain/scim/messages/messages.ts";
import { countIgnored, countIgnoredInBulk } from "../../domain/scim/messages/read-resource.ts";
import type { SearchScope } from "../../domain/scim/search/search-request.ts";
import type { Scim } from "../../domain/scim/service.ts";
import { ENDPOINTS, type ResourceTypeName, SCIM_BASE_PATH } from "../../domain/scim/wire.ts";
import { isOwnId } from "../../platform/ids.ts";
import { isJsonObject } from "../../platform/json/json-object.ts";
import { runInTurns } from "../../platform/steps.ts";
import { exchangeOf } from "../http/exchange.ts";
import { unrouted } from "../http/problems/refusal.ts";
import { noContent } from "../http/responses.ts";
import type { DocumentedRoute } from "../openapi.ts";
import type { RouteContext } from "../router.ts";
import { type Admission, changingProviderOf, providerOf } from "../scim/admission.ts";
import { described, HIDDEN } from "../scim/documentation.ts";
import { readGroupBody } from "../scim/group-body.ts";
import { listOf, readQuery, viewOf } from "../scim/query.ts";
import { changed, document, scimJson, shown } from "../scim/responses.ts";
import { readSearchMessage } from "../scim/search-message.ts";

/** Adds all routes below /scim; the guard runs first, even for unknown paths. */
export function scimRoutes(context: RouteContext, admission: Admission): void {
  const { scim } = context.domain;
  resourceRoutes(context, scim, "User");
  resourceRoutes(context, scim, "Group");
  queryRoutes(context, scim);
  discoveryRoutes(context, scim);
  bulkRoutes(context, admission);
  const routes: readonly DocumentedRoute[] = context.router.routes;
  closingRoutes(
    context,
    routes.filter(({ path }) => path.startsWith(SCIM_BASE_PATH)),
  );
}

function resourceRoutes({ router }: RouteContext, scim: Scim, type: ResourceTypeName) {
  const resources = type === "User" ? scim.users : scim.groups;
  const accepts = type === "User" ? "scim" : "scim-group";
  const path = `${SCIM_BASE_PATH}${ENDPOINTS[type]}`;
  /** @param parsed undefined for a group */
  const bodyOf = async (request: Request, parsed: unknown): Promise<unknown> =>
    type === "User"
      ? parsed
      : await readGroupBody(request, scim.groups.intake(providerOf(request), request.method));
  const change =
    (operation: "replace" | "patch") =>
    async ({
      request,
      params,
      body: parsed,
    }: {
      request: Request;
      params: { id: string };
      body: unknown;
    }) => {
      const options = changeOf(request);
      const id = idOf(request, params);
      const body = await bodyOf(request, parsed);
      noteIgnored(request, countIgnored(type, request.method, body));
      const answer = resources[operation](changingProviderOf(request), id, { ...options, body });
      return await changed(request, await answer);
    };
  const texts = described[type];
  return router
    .get(path, async ({ request }) => list(scim, type, request), { requires: "scim", detail: texts.list })
    .post(
      path,
      async ({ request, body: parsed }) => {
        const view = viewOf(readQuery(request));
        const body = await bodyOf(request, parsed);
        noteIgnored(request, countIgnored(type, request.method, body));
        return await changed(request, await resources.create(changingProviderOf(request), body, view), 201);
      },
      { requires: "scim", accepts, detail: texts.create },
    )
    .get(
      `${path}/:id`,
      async ({ request, params }) => {
        const ifNoneMatch = request.headers.get("if-none-match") ?? undefined;
        const options = { ...viewOf(readQuery(request)), ifNoneMatch };
        return await shown(request, resources.get(providerOf(request), idOf(request, params), options));
      },
      { requires: "scim", detail: texts.get },
    )
    .put(`${path}/:id`, change("replace"), { requires: "scim", accepts, detail: texts.replace })
    .patch(`${path}/:id`, change("patch"), { requires: "scim", accepts, detail: texts.patch })
    .delete(
      `${path}/:id`,
      async ({ request, params }) => {
        await resources.remove(changingProviderOf(request), idOf(request, params), changeOf(request));
        return noContent();
      },
      { requires: "scim", accepts: "nothing", detail: texts.remove },
    );
}

const list = async (scim: Scim, scope: SearchScope, request: Request): Promise<Response> =>
  scimJson(request, await scim.search.list(providerOf(request), scope, listOf(readQuery(request))));

const changeOf = (request: Request) => ({
  ...viewOf(readQuery(request)),
  ifMatch: request.headers.get("if-match") ?? undefined,
});

/** Stores the count for the log line of the request. */
function noteIgnored(request: Request, count: number): void {
  const { scim } = exchangeOf(request);
  if (scim) scim.ignored = count;
}

/**
 * Ids are compared exactly. A malformed id is an unknown resource and is not logged.
 * @param params holds null if the path could not be decoded
 * @throws ScimError 404
 */
function idOf(request: Request, { id }: { id: string | null }): string {
  if (id === null || !isOwnId(id)) throw scimNotFound();
  const { scim } = exchangeOf(request);
  if (scim) scim.resourceId = id;
  return id;
}

const SEARCHES = [
  [`${ENDPOINTS.User}/.search`, "User", described.User.search],
  [`${ENDPOINTS.Group}/.search`, "Group", described.Group.search],
  ["/.search", "all", described.searchAll],
] as const;

/** Queries over all resource types, and queries sent by POST. */
function queryRoutes({ router }: RouteContext, scim: Scim) {
  router.get(SCIM_BASE_PATH, async ({ request }) => list(scim, "all", request), {
    requires: "scim",
    detail: described.listAll,
  });
  for (const [path, scope, detail] of SEARCHES) {
    router.post(
      `${SCIM_BASE_PATH}${path}`,
      async ({ request, body }) => {
        readQuery(request); // rejects a secret in the query
        const message = readSearchMessage(body);
        return scimJson(request, await scim.search.list(providerOf(request), scope, message));
      },
      { requires: "scim", accepts: "scim", detail },
    );
  }
  return router;
}

const DISCOVERY = [
  ["/ServiceProviderConfig", described.service],
  ["/ResourceTypes", described.types],
  ["/ResourceTypes/:name", described.type],
  ["/Schemas", described.schemas],
  ["/Schemas/:urn", described.schema],
] as const;

function discoveryRoutes({ router }: RouteContext, { discovery }: Scim) {
  for (const [path, detail] of DISCOVERY) {
    const collection = path.replace(/\/:\w+$/, "");
    router.get(
      `${SCIM_BASE_PATH}${path}`,
      ({ request, params }) => {
        const names: (string | null)[] = Object.values(params ?? {}); // empty if the path has no parameters
        const query = readQuery(request);
        const options = { ...viewOf(query), filter: query.get("filter") };
        return document(request, discovery.answer([collection, ...names].join("/"), options));
      },
      { requires: "scim", detail },
    );
  }
  return router;
}

/**
 * @returns the number of operations beyond the first, which counts as the request itself; 0 for a bulk request over the
 * limit
 */
export function bulkCost(body: unknown): number {
  const operations = isJsonObject(body) ? fieldsOf(body).get("operations") : undefined;
  const count = Array.isArray(operations) ? operations.length : 0;
  return count > BULK_OPERATIONS_MAX ? 0 : Math.max(0, count - 1);
}

function bulkRoutes({ router, domain }: RouteContext, admission: Admission) {
  return router.post(
    `${SCIM_BASE_PATH}/Bulk`,
    async ({ request, body }) => {
      readQuery(request); // rejects a secret in the query
      admission.charge(request, bulkCost(body));
      noteIgnored(request, await runInTurns(countIgnoredInBulk(body)));
      return scimJson(request, await domain.scim.bulk.run(changingProviderOf(request), body));
    },
    { requires: "scim", accepts: "scim", detail: described.bulk },
  );
}

/** Refuses all other requests below /scim: unsupported methods, unknown paths and other protocol versions. */
function closingRoutes({ router }: RouteContext, known: readonly DocumentedRoute[]) {
  const hidden = { requires: "scim", accepts: "nothing", detail: HIDDEN } as const;
  for (const [path, allowed] of methodsByPath(known)) {
    router.all(path, ({ request }) => refuseMethod(request, allowed), hidden);
  }
  return router
    .all(`${SCIM_BASE_PATH}/Me`, refuseMeEndpoint, hidden)
    .all("/scim", ({ request }) => refusePath(request), hidden)
    .all("/scim/*", ({ request }) => refusePath(request), hidden);
}

function methodsByPath(known: readonly DocumentedRoute[]): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const { path, method } of known) methods.set(path, [...(methods.get(path) ?? []), method]);
  for (const [path, own] of methods) {
    methods.set(path, [...own, ...(own.includes("GET") ? ["HEAD"] : []), "OPTIONS"]);
  }
  return methods;
}

/** The framework does not handle OPTIONS, and answers an unsupported method like an unknown path. */
function refuseMethod(request: Request, allowed: readonly string[]): Response {
  if (request.method !== "OPTIONS") throw unrouted(request.method, allowed);
  const response = noContent();
  response.headers.set("allow", allowed.join(", "));
  return response;
}

function refuseMeEndpoint(): never {
  throw new ScimError(501, undefined, "a SCIM token does not belong to a user; read the user by its id");
}

/** A path of an unsupported protocol version, for example `/scim/v1/…`. */
const OTHER_VERSION = /^[^?]*?\/scim\/(?!v2[/?]|v2$)[vV]\d[^/?]*(?:[/?]|$)/;

function refusePath(request: Request): never {
  if (OTHER_VERSION.test(request.url)) {
    throw scimInvalid("invalidVers", `only SCIM version 2 is supported; its base is ${SCIM_BASE_PATH}`);
  }
  throw unrouted(request.method, []);
}
