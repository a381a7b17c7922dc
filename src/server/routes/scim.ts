// SCIM 2.0 for identity providers (RFC 7644): every path of it on one page. Handlers only carry requests to the area and
// texts back; what a request means and may do is decided in src/domain/scim.

import { Elysia } from "elysia";
import { ScimError, scimInvalid, scimNotFound } from "../../domain/scim/errors.ts";
import { countIgnored, countIgnoredInBulk } from "../../domain/scim/messages/ignored-attributes.ts";
import type { ScimResources } from "../../domain/scim/model.ts";
import type { SearchScope } from "../../domain/scim/search/search-request.ts";
import type { Scim } from "../../domain/scim/service.ts";
import { ENDPOINTS, type ResourceTypeName, SCIM_BASE_PATH } from "../../domain/scim/wire.ts";
import { isOwnId } from "../../platform/ids.ts";
import { noContent } from "../http/answers.ts";
import { exchangeOf } from "../http/exchange.ts";
import { unrouted } from "../http/problems/refusal.ts";
import type { DocumentedRoute } from "../openapi.ts";
import { createRouter, type RouteContext } from "../router.ts";
import type { Admission } from "../scim/admission.ts";
import { changed, document, scimJson, shown } from "../scim/answers.ts";
import { bulkCost } from "../scim/bulk-cost.ts";
import { changingProviderOf, providerOf } from "../scim/caller.ts";
import { described, HIDDEN } from "../scim/documentation.ts";
import { listOf, readQuery, viewOf } from "../scim/query.ts";
import { readSearchMessage } from "../scim/search-message.ts";

/** @returns all paths below /scim; the guard comes before everything, unknown paths included (scim.md section 1) */
export function scimRoutes(context: RouteContext, admission: Admission) {
  const { scim } = context.domain;
  const known = [
    resourceRoutes(context, scim, "User"),
    resourceRoutes(context, scim, "Group"),
    queryRoutes(context, scim),
    discoveryRoutes(context, scim),
    bulkRoutes(context, admission),
  ];
  const routes: readonly DocumentedRoute[] = known.flatMap((router) => router.routes);
  const all = new Elysia({ name: "routes/scim" });
  for (const router of known) all.use(router);
  return all.use(closingRoutes(context, routes));
}

interface Asked {
  request: Request;
  params: { id: string };
}

function resourceRoutes({ guard }: RouteContext, scim: Scim, type: ResourceTypeName) {
  const resources = type === "User" ? scim.users : scim.groups;
  const accepts = type === "User" ? "scim" : "scim-group";
  const path = `${SCIM_BASE_PATH}${ENDPOINTS[type]}`;
  const texts = described[type];
  return createRouter(guard, `scim${ENDPOINTS[type]}`)
    .get(path, list.bind(undefined, scim, type), { requires: "scim", detail: texts.list })
    .post(
      path,
      async ({ request, body }) => {
        const view = viewOf(readQuery(request));
        noteIgnored(request, countIgnored(type, request.method, body));
        return await changed(request, await resources.create(changingProviderOf(request), body, view), 201);
      },
      { requires: "scim", accepts, detail: texts.create },
    )
    .get(`${path}/:id`, show.bind(undefined, resources), { requires: "scim", detail: texts.get })
    .put(
      `${path}/:id`,
      async ({ request, params, body }) => {
        const change = { ...changeOf(request), body };
        noteIgnored(request, countIgnored(type, request.method, body));
        const id = idOf(request, params);
        return await changed(request, await resources.replace(changingProviderOf(request), id, change));
      },
      { requires: "scim", accepts, detail: texts.replace },
    )
    .patch(
      `${path}/:id`,
      async ({ request, params, body }) => {
        const change = { ...changeOf(request), body };
        noteIgnored(request, countIgnored(type, request.method, body));
        const id = idOf(request, params);
        return await changed(request, await resources.patch(changingProviderOf(request), id, change));
      },
      { requires: "scim", accepts, detail: texts.patch },
    )
    .delete(
      `${path}/:id`,
      async ({ request, params }) => {
        await resources.remove(changingProviderOf(request), idOf(request, params), changeOf(request));
        return noContent();
      },
      { requires: "scim", accepts: "nothing", detail: texts.remove },
    );
}

/**
 * Bound, so that it has no text: the framework would take it for one that may wait (catalog/catalog.ts).
 * @returns a promise for a large group, which comes in pieces and may be refused before the first of them
 */
function show(resources: ScimResources, { request, params }: Asked): Response | Promise<Response> {
  const ifNoneMatch = request.headers.get("if-none-match") ?? undefined;
  const asked = { ...viewOf(readQuery(request)), ifNoneMatch };
  return shown(request, resources.get(providerOf(request), idOf(request, params), asked));
}

/** Bound, too. */
function list(
  scim: Scim,
  scope: SearchScope,
  { request }: Pick<Asked, "request">,
): Response | Promise<Response> {
  return listed(request, scim.search.list(providerOf(request), scope, listOf(readQuery(request))));
}

/** A list that needs no scan is there at once, and an answer that is no promise costs less. */
const listed = (request: Request, json: string | Promise<string>): Response | Promise<Response> =>
  typeof json === "string" ? scimJson(request, json) : json.then((text) => scimJson(request, text));

const changeOf = (request: Request) => ({
  ...viewOf(readQuery(request)),
  ifMatch: request.headers.get("if-match") ?? undefined,
});

/** For the request's line in the log. */
function noteIgnored(request: Request, count: number): void {
  const { scim } = exchangeOf(request);
  if (scim) scim.ignored = count;
}

/**
 * Ids compare exactly: whatever is no id of ours is no id of anything (scim.md SCIM-44), and goes into no log.
 * @param params holds null where the path could not be decoded
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

/** Queries over all types, and those that come as a message. */
function queryRoutes({ guard }: RouteContext, scim: Scim) {
  const router = createRouter(guard, "scim/queries").get(SCIM_BASE_PATH, list.bind(undefined, scim, "all"), {
    requires: "scim",
    detail: described.listAll,
  });
  for (const [path, scope, detail] of SEARCHES) {
    router.post(
      `${SCIM_BASE_PATH}${path}`,
      ({ request, body }) => {
        readQuery(request); // refuses a secret in it
        return listed(request, scim.search.list(providerOf(request), scope, readSearchMessage(body)));
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

function discoveryRoutes({ guard }: RouteContext, { discovery }: Scim) {
  const router = createRouter(guard, "scim/discovery");
  for (const [path, detail] of DISCOVERY) {
    const collection = path.replace(/\/:\w+$/, "");
    router.get(
      `${SCIM_BASE_PATH}${path}`,
      ({ request, params }) => {
        const names: (string | null)[] = Object.values(params ?? {}); // none where the path has none
        const query = readQuery(request);
        const asked = { ...viewOf(query), filter: query.get("filter") };
        return document(request, discovery.answer([collection, ...names].join("/"), asked));
      },
      { requires: "scim", detail },
    );
  }
  return router;
}

function bulkRoutes({ guard, domain }: RouteContext, admission: Admission) {
  return createRouter(guard, "scim/bulk").post(
    `${SCIM_BASE_PATH}/Bulk`,
    async ({ request, body }) => {
      readQuery(request); // refuses a secret in it
      admission.charge(request, bulkCost(body));
      noteIgnored(request, countIgnoredInBulk(body));
      return scimJson(request, await domain.scim.bulk.run(changingProviderOf(request), body));
    },
    { requires: "scim", accepts: "scim", detail: described.bulk },
  );
}

/** What is left below /scim: other methods of known paths, paths that are not there, and another version's. */
function closingRoutes({ guard }: RouteContext, known: readonly DocumentedRoute[]) {
  const hidden = { requires: "scim", accepts: "nothing", detail: HIDDEN } as const;
  const router = createRouter(guard, "scim/closing");
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

/** The framework has no OPTIONS, and answers another method as it answers an unknown path (scim.md SCIM-45). */
function refuseMethod(request: Request, allowed: readonly string[]): Response {
  if (request.method !== "OPTIONS") throw unrouted(request.method, allowed);
  const response = noContent();
  response.headers.set("allow", allowed.join(", "));
  return response;
}

function refuseMeEndpoint(): never {
  throw new ScimError(501, undefined, "a SCIM token belongs to no user; read the user by its id");
}

/** `/scim/v1/…` and the like: a path of a version that is not here (scim.md SCIM-46). */
const OTHER_VERSION = /^[^?]*?\/scim\/(?!v2[/?]|v2$)[vV]\d[^/?]*(?:[/?]|$)/;

function refusePath(request: Request): never {
  if (OTHER_VERSION.test(request.url)) {
    throw scimInvalid("invalidVers", `there is only version 2 of this API; its base is ${SCIM_BASE_PATH}`);
  }
  throw unrouted(request.method, []);
}
