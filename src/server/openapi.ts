// Builds the OpenAPI document from the routes: TypeBox schemas already are JSON Schema. The framework's plugin is not used
// because it replaces TypeBox's format checks for the whole process.

import type { TSchema } from "@sinclair/typebox";
import { SCIM_ERROR } from "../domain/scim/wire.ts";
import { isJsonObject } from "../platform/json/json-object.ts";
import { sessionCookieName } from "./auth/cookies.ts";
import { type Requirement, securityOf } from "./auth/guard.ts";
import type { Accepted } from "./http/bodies/body.ts";
import { type Answer, type Answers, headerParameter } from "./http/header-parameters.ts";
import { type Dialect, dialectOf } from "./http/problems/dialect.ts";
import { type DescribedResponses, withReadTag } from "./http/read-tags.ts";
import { SCIM_MEDIA_TYPE } from "./scim/responses.ts";

/** Version of the API contract. */
const CONTRACT_VERSION = "0.1.0";

export interface OperationText {
  tags: [string];
  /** answers by status; the document adds refusals that follow from guard and body */
  answers: Answers;
}

/**
 * @returns the `detail` of a route. Responses are documented here instead of in Elysia's `response`, which would
 * validate each large response at run time.
 */
export const operation = (operationId: string, summary: string, { tags, answers }: OperationText) => ({
  operationId,
  summary,
  tags,
  "x-answers": answers,
});

/** @returns `operation` for a routes file with one tag */
export const operationsOf = (tag: string) => (operationId: string, summary: string, answers: Answers) =>
  operation(operationId, summary, { tags: [tag], answers });

/** The part of a registered route that the document uses. */
export interface DocumentedRoute {
  method: string;
  path: string;
  hooks: { body?: unknown; query?: unknown; params?: unknown; detail?: RouteDetail };
}

export interface RouteDetail extends DescribedResponses {
  operationId?: string;
  summary?: string;
  tags?: string[];
  "x-requires"?: Requirement;
  "x-accepts"?: Accepted;
  /** query parameters of a route that parses its own query */
  "x-query"?: TSchema;
  /** omits the route from the document */
  hide?: boolean;
}

/** @returns whether the document includes the route; routes that only refuse are omitted */
export const isShown = ({ hooks }: DocumentedRoute): boolean => hooks.detail?.hide !== true;

/** @returns the document as JSON text */
export function openApiDocument(
  routes: readonly DocumentedRoute[],
  { serverUrl }: { serverUrl: string },
): string {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes.filter(isShown)) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Quartermaster", version: CONTRACT_VERSION },
    servers: [{ url: serverUrl }],
    components: {
      securitySchemes: {
        ...securitySchemes,
        browserSession: { type: "apiKey", in: "cookie", name: sessionCookieName(serverUrl) },
      },
      schemas: { Problem: problemSchema, OAuthProblem: oauthProblemSchema, ScimProblem: scimProblemSchema },
      responses: refusalResponses(),
    },
    paths,
  });
}

const securitySchemes = {
  oauthDevice: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "Access token from the OAuth 2.0 device flow (RFC 8628).",
  },
  scimBearer: { type: "http", scheme: "bearer", description: "Token of an identity provider." },
  proxyBearer: { type: "http", scheme: "bearer", description: "Token of the inference proxy." },
};

const problemSchema = {
  type: "object",
  description: "RFC 9457 problem details; `error` repeats `detail`.",
  required: ["type", "title", "status", "detail", "error", "reason", "request_id"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    error: { type: "string" },
    reason: { type: "string" },
    request_id: { type: "string" },
    required_client_version: { type: "string", description: "With 426: the version to update to, if any" },
    required_contract_version: {
      type: "integer",
      description: "With 426: the contract version that the client must support",
    },
    missing_capabilities: {
      type: "array",
      items: { type: "string" },
      description: "With 426: the capabilities that the client must have",
    },
    errors: {
      type: "array",
      items: {
        type: "object",
        required: ["pointer", "detail"],
        properties: { pointer: { type: "string" }, detail: { type: "string" } },
      },
    },
  },
};

const oauthProblemSchema = {
  type: "object",
  description: "RFC 6749 section 5.2",
  required: ["error", "error_description"],
  properties: { error: { type: "string" }, error_description: { type: "string" } },
};

const scimProblemSchema = {
  type: "object",
  description: "RFC 7644 section 3.12; the status is a string",
  required: ["schemas", "status", "detail"],
  properties: {
    schemas: { type: "array", items: { const: SCIM_ERROR } },
    status: { type: "string" },
    scimType: { type: "string" },
    detail: { type: "string" },
  },
};

const REFUSALS: Record<number, string> = {
  400: "The input is malformed or refused",
  401: "Unauthenticated: the credential is missing, invalid or expired",
  403: "The credential does not permit this",
  404: "No such record",
  408: "The body arrived too slowly",
  409: "The state of the record does not allow the operation",
  410: "The record is no longer available",
  411: "The length of the body is not declared",
  412: "The record has another version",
  413: "The body is too large",
  415: "Unsupported media type",
  422: "A member of the body is missing or invalid",
  426: "The client is too old",
  429: "Too many attempts; Retry-After says when to try again",
  502: "Another service failed",
  503: "Temporarily unavailable; try again",
};

/** Schema name and content of the error responses in each format. */
const REFUSAL_CONTENTS: Record<Dialect, { name: string; content: object }> = {
  problem: {
    name: "Problem",
    content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
  },
  oauth: {
    name: "OAuthProblem",
    content: { "application/json": { schema: { $ref: "#/components/schemas/OAuthProblem" } } },
  },
  page: { name: "ErrorPage", content: { "text/html": { schema: { type: "string" } } } },
  scim: {
    name: "ScimProblem",
    content: { [SCIM_MEDIA_TYPE]: { schema: { $ref: "#/components/schemas/ScimProblem" } } },
  },
};

const refusalResponses = () =>
  Object.fromEntries(
    Object.values(REFUSAL_CONTENTS).flatMap(({ name, content }) =>
      Object.entries(REFUSALS).map(([status, description]) => [`${name}${status}`, { description, content }]),
    ),
  );

const refusalRef = (path: string, status: number | string) => ({
  $ref: `#/components/responses/${REFUSAL_CONTENTS[dialectOf(path)].name}${status}`,
});

const BODY_TYPES: Record<Accepted, string> = {
  json: "application/json",
  "json-or-nothing": "application/json",
  bytes: "application/octet-stream",
  nothing: "application/json",
  form: "application/x-www-form-urlencoded",
  upload: "multipart/form-data",
  scim: SCIM_MEDIA_TYPE,
  "scim-group": SCIM_MEDIA_TYPE,
};

function operationOf({ hooks, path, method }: DocumentedRoute): Record<string, unknown> {
  const {
    "x-requires": requires,
    "x-accepts": accepts,
    "x-answers": answers = {},
    "x-query": query = hooks.query,
    "x-headers": headers = [],
    ...detail
  } = withReadTag(hooks.detail ?? {}, { method, path });
  const isObject = accepts === "upload" || accepts?.startsWith("scim");
  const schema =
    accepts === "bytes" ? { type: "string" } : isObject ? { type: "object" } : withoutMark(hooks.body);
  return {
    ...detail,
    ...(requires && { security: securityOf(requires) }),
    parameters: [
      ...pathParameters(path, hooks.params),
      ...queryParameters(query),
      ...headers.map(headerParameter),
    ],
    ...(isJsonObject(schema) && {
      requestBody: {
        required: accepts !== "json-or-nothing",
        content: { [BODY_TYPES[accepts ?? "json"]]: { schema } },
      },
    }),
    responses: { ...refusalsOf({ requires, accepts, path, hooks }), ...responsesOf(path, answers) },
  };
}

/** The mark is meant for the framework, see validation.ts. */
function withoutMark(schema: unknown): unknown {
  if (!isJsonObject(schema)) return schema;
  const { noValidate, ...shown }: { noValidate?: unknown } = schema;
  return shown;
}

const pathParameters = (path: string, schema: unknown): unknown[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: new Map(membersOf(schema)).get(name) ?? { type: "string" },
  }));

const membersOf = (schema: unknown): [string, unknown][] =>
  isJsonObject(schema) && "properties" in schema && isJsonObject(schema.properties)
    ? Object.entries(schema.properties)
    : [];

function queryParameters(schema: unknown): unknown[] {
  const required =
    isJsonObject(schema) && "required" in schema && Array.isArray(schema.required) ? schema.required : [];
  return membersOf(schema).map(([name, property]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema: property,
  }));
}

interface RefusalSources {
  requires: Requirement | undefined;
  accepts: Accepted | undefined;
  path: string;
  hooks: DocumentedRoute["hooks"];
}

function refusalsOf({ requires, accepts, path, hooks }: RefusalSources): Record<string, unknown> {
  const statuses = [
    ...(isJsonObject(hooks.query) || isJsonObject(hooks.params) ? [400] : []),
    ...(requires === "nobody" ? [] : [401, 403]),
    ...(path.includes(":") ? [404] : []),
    ...(accepts === undefined || accepts === "nothing" || accepts === "bytes" ? [] : [400, 413, 415]),
    ...(requires === "nobody" && accepts !== undefined && accepts !== "nothing" ? [408] : []),
    ...(accepts?.startsWith("json") ? [422] : []),
  ];
  return Object.fromEntries(statuses.map((status) => [status, refusalRef(path, status)]));
}

const responsesOf = (path: string, answers: Readonly<Record<number, Answer>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(answers).map(([status, { description, schema, mediaType = "application/json" }]) => {
      if (Number(status) >= 400 && !schema) return [status, { ...refusalRef(path, status), description }];
      return [status, { description, ...(schema && { content: { [mediaType]: { schema } } }) }];
    }),
  );
