// OpenAPI descriptions of the SCIM routes. Body schemas are loose: /scim/v2/Schemas lists the attributes, and src/domain/scim
// validates them with SCIM errors.
import { type TObject, Type } from "@sinclair/typebox";
import { LIST_RESPONSE } from "../../domain/scim/wire.ts";
import type { Answer } from "../http/header-parameters.ts";
import { parameter } from "../http/paging.ts";
import { operationsOf } from "../openapi.ts";
import { SCIM_MEDIA_TYPE } from "./responses.ts";

const documented = operationsOf("Identity provisioning");

/** Omits routes that only refuse from the document. */
export const HIDDEN = { hide: true } as const;

const open = { additionalProperties: true };
const Resource = Type.Object({ schemas: Type.Array(Type.String()), id: Type.String() }, open);
const Document = Type.Object({ schemas: Type.Array(Type.String()) }, open);
const List = Type.Object({
  schemas: Type.Array(Type.Literal(LIST_RESPONSE)),
  totalResults: Type.Integer(),
  startIndex: Type.Integer(),
  itemsPerPage: Type.Integer(),
  Resources: Type.Array(Document),
});

const ViewParameters = {
  attributes: parameter({ description: "Names of the attributes to return, separated by commas" }),
  excludedAttributes: parameter({ description: "Names of attributes to leave out, separated by commas" }),
};
const View = Type.Object(ViewParameters);
const Query = Type.Object({
  filter: parameter({ description: "RFC 7644 section 3.4.2.2" }),
  sortBy: parameter({ description: "Name of an attribute" }),
  sortOrder: parameter({ enum: ["ascending", "descending"] }),
  startIndex: parameter({ type: "integer", description: "1-based" }),
  count: parameter({ type: "integer", minimum: 0, description: "Maximum number of resources on the page" }),
  ...ViewParameters,
});

const answer = (description: string, schema: TObject): Answer => ({
  description,
  schema,
  mediaType: SCIM_MEDIA_TYPE,
});
const refusal = (description: string): Answer => ({ description });
const SHARED = { 429: refusal("Too many requests"), 503: refusal("Not now") };
const CONFLICT = { 409: refusal("Another resource has this value") };
const PRECONDITION = { 412: refusal("If-Match does not name the current version") };
const UNCHANGED = { 304: { description: "Unchanged since the ETag in If-None-Match" } };

/** @param query parameters for the document; the routes parse the query themselves */
const operation = (
  operationId: string,
  summary: string,
  { query, answers }: { query?: TObject; answers: Readonly<Record<number, Answer>> },
) => ({
  ...documented(operationId, summary, { ...SHARED, ...answers }),
  ...(query && { "x-query": query }),
});

const resourceTexts = (name: "User" | "Group") => {
  const one = `Scim${name}`;
  const what = name.toLowerCase();
  const shown = answer(`The ${what}`, Resource);
  return {
    list: operation(`list${one}s`, `Provisioned ${what}s that match a filter`, {
      query: Query,
      answers: { 200: answer("One page", List), 400: refusal("The filter or the page is invalid") },
    }),
    search: operation(`search${one}s`, `The same, with the query in the body`, {
      answers: { 200: answer("One page", List) },
    }),
    create: operation(`create${one}`, `Provision a ${what}`, {
      query: View,
      answers: { 201: answer("Provisioned", Resource), ...CONFLICT },
    }),
    get: operation(`get${one}`, `One provisioned ${what}`, {
      query: View,
      answers: { 200: shown, ...UNCHANGED, 400: refusal("The query is invalid") },
    }),
    replace: operation(`replace${one}`, `Replace all attributes of a ${what}`, {
      query: View,
      answers: { 200: shown, ...CONFLICT, ...PRECONDITION },
    }),
    patch: operation(`patch${one}`, `Change some attributes of a ${what}`, {
      query: View,
      answers: {
        200: shown,
        ...(name === "Group" && { 204: { description: "Changed; no attributes were requested" } }),
        ...CONFLICT,
        ...PRECONDITION,
      },
    }),
    remove: operation(`delete${one}`, `Deprovision a ${what}`, {
      answers: { 204: { description: "Gone" }, ...PRECONDITION },
    }),
  };
};

const discovery = (operationId: string, summary: string, schema: TObject) =>
  operation(operationId, summary, {
    query: View,
    answers: { 200: answer("The document", schema), ...UNCHANGED, 400: refusal("The query is invalid") },
  });

/** Descriptions of all documented routes. */
export const described = {
  User: resourceTexts("User"),
  Group: resourceTexts("Group"),
  listAll: operation("listScimResources", "Provisioned users and groups that match a filter", {
    query: Query,
    answers: { 200: answer("One page", List), 400: refusal("The filter or the page is invalid") },
  }),
  searchAll: operation("searchScimResources", "The same, with the query in the body", {
    answers: { 200: answer("One page", List) },
  }),
  bulk: operation("runScimBulk", "Many independent changes in one request", {
    answers: { 200: answer("Result of each change", Document) },
  }),
  service: discovery("getScimServiceProviderConfig", "Features that this service supports", Document),
  types: discovery("listScimResourceTypes", "Types of resources", List),
  type: discovery("getScimResourceType", "One type of resource", Resource),
  schemas: discovery("listScimSchemas", "Schemas of resources", List),
  schema: discovery("getScimSchema", "One schema", Resource),
};
