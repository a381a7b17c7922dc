// Health, metrics and the API document for operators and their tools.
import { Type } from "@sinclair/typebox";
import { DependencyHealth } from "../../domain/system/health.ts";
import { type PreparedResponse, prepareResponse, respondConditionally } from "../http/conditional.ts";
import { HttpError } from "../http/problems/problem.ts";
import { json, plainText } from "../http/responses.ts";
import { type DocumentedRoute, openApiDocument, operation } from "../openapi.ts";
import type { RouteContext } from "../router.ts";

const tags: [string] = ["System"];

/** A response of one word, which monitors and clients compare. */
const word = (description: string, ...texts: readonly string[]) => ({
  description,
  schema: Type.Union(texts.map((text) => Type.Literal(text))),
  mediaType: "text/plain",
});

const health = (operationId: string, summary: string, ...healthy: readonly string[]) =>
  operation(operationId, summary, {
    tags,
    answers: { 200: word("Healthy", ...healthy), 503: { description: "Unhealthy" } },
  });

const describeLiveness = (operationId: string) =>
  operation(operationId, "Process liveness", { tags, answers: { 200: word("Alive", "ok") } });

const unhealthy = (reason: string, message: string, failing: readonly string[] = []) =>
  new HttpError(503, `health.${reason}`, message, {
    problems: failing.map((name) => ({ pointer: `/${name}`, detail: `the check ${name} fails` })),
  });

/** @returns the health endpoints, which answer with one word each */
export function healthRoutes(context: RouteContext) {
  storageHealthRoutes(context);
  const { router, readiness } = context;
  return router
    .get("/health", () => plainText("ok"), {
      requires: "nobody",
      detail: describeLiveness("getLiveness"),
    })
    .get("/api/health", () => plainText("ok"), {
      requires: "nobody",
      detail: describeLiveness("getApiLiveness"),
    })
    .get(
      "/ready",
      () => {
        const failing = readiness.failing();
        if (failing.length > 0) throw unhealthy("not_ready", `not ready: ${failing.join(", ")}`, failing);
        return plainText("ready");
      },
      { requires: "nobody", detail: health("getReadiness", "Whether requests can be served", "ready") },
    )
    .get(
      "/health/schema",
      () => {
        if (!readiness.isSchemaCompatible()) throw unhealthy("schema", "schema incompatible");
        return plainText("compatible");
      },
      {
        requires: "nobody",
        detail: health("getSchemaHealth", "Database schema compatibility", "compatible"),
      },
    )
    .get(
      "/health/worker",
      () => {
        if (!readiness.isWorkerFresh()) throw unhealthy("worker", "stale");
        return plainText("fresh");
      },
      { requires: "nobody", detail: health("getWorkerHealth", "Freshness of background work", "fresh") },
    );
}

/** @returns the health of stores, as far as this service checks them */
function storageHealthRoutes({ router, domain: { health: state } }: RouteContext) {
  return router
    .get(
      "/health/object-storage",
      async () => {
        if ((await state.objectStorage()) !== "usable") throw unhealthy("object_storage", "unhealthy");
        return plainText("healthy");
      },
      {
        requires: "nobody",
        detail: health(
          "getObjectStorageHealth",
          "Whether packages and captured sessions can be read and stored",
          "healthy",
        ),
      },
    )
    .get(
      "/health/credential-resolver",
      () => {
        const response = state.credentialResolver();
        if (response === "unhealthy") throw unhealthy("credential_resolver", response);
        return plainText(response);
      },
      {
        requires: "nobody",
        detail: health(
          "getCredentialResolverHealth",
          "Whether gateway keys can be looked up",
          "healthy",
          "disabled",
        ),
      },
    );
}

/** @returns the health report and the metrics */
export function systemRoutes({ router, metrics, domain: { health: state } }: RouteContext) {
  return router
    .get("/health/dependencies", async () => json(await state.dependencies()), {
      requires: "governance:read",
      detail: operation("getDependencyHealth", "Health of each part that the service depends on", {
        tags,
        answers: { 200: { description: "Report; the verdict is in `status`", schema: DependencyHealth } },
      }),
    })
    .get(
      "/metrics",
      async () =>
        new Response(await metrics.metrics(), {
          headers: { "content-type": metrics.contentType, "cache-control": "no-store" },
        }),
      {
        requires: "metrics",
        detail: operation("getMetrics", "Prometheus text exposition", {
          tags,
          answers: { 200: { description: "Samples", schema: Type.String(), mediaType: "text/plain" } },
        }),
      },
    );
}

/** Builds the document at the first request, when all routes are registered. */
export function openApiRoutes(
  { router, baseUrl }: RouteContext,
  routes: () => Promise<readonly DocumentedRoute[]>,
) {
  let document: PreparedResponse | undefined;
  return router.get(
    "/openapi.json",
    async ({ request }) => {
      document ??= prepareResponse(Buffer.from(openApiDocument(await routes(), { serverUrl: baseUrl() })), {
        contentType: "application/json",
        cacheControl: "public, no-cache",
      });
      return respondConditionally(request, document);
    },
    {
      requires: "nobody",
      detail: operation("getOpenApi", "This API as an OpenAPI 3.1 document", {
        tags,
        answers: { 200: { description: "The document", schema: Type.Object({}) } },
      }),
    },
  );
}
