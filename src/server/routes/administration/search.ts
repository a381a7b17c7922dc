// API for the search over everything that has a name.
import { Type } from "@sinclair/typebox";
import { SEARCH_LENGTH_MAX } from "../../../domain/shared/page.ts";
import { principalOf } from "../../http/exchange.ts";
import { parameter } from "../../http/paging.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";
import { HITS_MAX, SEARCH_KINDS } from "../../search/search.ts";

const Kind = Type.Union(SEARCH_KINDS.map((kind) => Type.Literal(kind)));
const SearchResponse = Type.Object({
  items: Type.Array(
    Type.Object({
      kind: Kind,
      id: Type.String({ description: "The id in other operations; the name of an MCP server" }),
      label: Type.String(),
      detail: Type.Union([Type.String(), Type.Null()]),
    }),
    { description: `at most ${HITS_MAX} of each kind` },
  ),
  unfinished: Type.Array(Kind, {
    description: "Kinds whose search took too long; use their lists to find more",
  }),
});
const SearchParameters = Type.Object(
  {
    q: parameter({
      maxLength: SEARCH_LENGTH_MAX,
      description: "Part of a name in any letter case, or a number; a blank text finds nothing",
    }),
  },
  { additionalProperties: false },
);
const described = operationsOf("Administration")(
  "search",
  "Users, workstations, packages, MCP servers, revisions, groups and audit entries by name",
  {
    200: { description: "What was found", schema: SearchResponse },
    429: { description: "Too many searches of this user" },
  },
);

export const searchRoutes = ({ router, search, spendSearch }: RouteContext) =>
  router.get(
    "/admin/search",
    async ({ request, query }) => {
      spendSearch(principalOf(request));
      const { hits, unfinished } = await search(principalOf(request).organizationId, query.q);
      return json({ items: hits, unfinished });
    },
    { requires: "administrator", query: SearchParameters, detail: described },
  );
