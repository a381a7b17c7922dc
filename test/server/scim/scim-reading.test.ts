// How SCIM requests are parsed before they are interpreted: structure of bodies, queries, search messages and media types.
import { describe, expect, test } from "bun:test";
import { ScimError } from "../../../src/domain/scim/errors.ts";
import { SEARCH_REQUEST } from "../../../src/domain/scim/wire.ts";
import { JSON_VALUES_MAX, parseWithin } from "../../../src/server/http/bodies/body-text.ts";
import { bulkCost } from "../../../src/server/routes/scim.ts";
import { limitsOf, malformed, SCIM_DEPTH_MAX } from "../../../src/server/scim/body.ts";
import { ATTRIBUTE_LIST_CHARACTERS_MAX, listOf, readQuery, viewOf } from "../../../src/server/scim/query.ts";
import { providerIn } from "../../../src/server/scim/request-log.ts";
import { responseMediaType } from "../../../src/server/scim/responses.ts";
import { readSearchMessage } from "../../../src/server/scim/search-message.ts";

const parseMessage = (json: string) => parseWithin(json, limitsOf(JSON_VALUES_MAX), malformed);

/** @returns the scimType and detail of the error of a call; undefined without an error */
async function refusalOf(
  call: () => unknown,
): Promise<[scimType: string | undefined, detail: string] | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    if (!(error instanceof ScimError)) throw error;
    return [error.scimType, error.message];
  }
}

describe("a body", () => {
  const nested = (depth: number) => `${'{"a":['.repeat(depth / 2)}${"]}".repeat(depth / 2)}`;

  test.each([
    [SCIM_DEPTH_MAX - 2, undefined],
    [SCIM_DEPTH_MAX, undefined],
    [SCIM_DEPTH_MAX + 2, "invalidSyntax"],
  ])("SCIM-37 nested %d deep is refused as %p", async (depth, scimType) => {
    expect((await refusalOf(() => parseMessage(nested(depth))))?.[0]).toBe(scimType);
  });

  test("nested extremely deep is refused too", async () => {
    expect((await refusalOf(() => parseMessage(nested(1_000_000))))?.[0]).toBe("invalidSyntax");
  });

  test.each([
    ['{"active":true,"active":false}', "active"],
    ['{"active":true,"Active":false}', "Active"],
    ['{"a":{"b":[{"c":1,"d":{},"C":2}]}}', "C"],
    ['{"name":1,"n\\u0041me":2}', "nAme"],
    ['{"a\\"":1,"A\\"":2}', 'A\\"'],
    ['{"a\\\\":1,"x":"y\\\\","A\\\\":2}', "A\\\\"],
    ['{"__proto__":1,"__PROTO__":2}', "__PROTO__"],
    ['[{"a":1,"b":2},{"a":1,"b":2,"B":3}]', "B"],
    ['[{"a":1,"b":2},{"b":1,"b":2}]', "b"],
    ['[{"a":1,"b":2},{"a":1},{"a":1,"b":2,"A":3}]', "A"],
    ['[{"a":1,"b":2},{"c":1,"b":2,"C":3}]', "C"],
  ])("SCIM-39 %s is refused with the name of the member", async (json, name) => {
    const [scimType, detail] = (await refusalOf(() => parseMessage(json))) ?? [];
    expect([scimType, detail]).toEqual(["invalidSyntax", expect.stringContaining(`"${name}"`)]);
  });

  test.each([7, 8, 9, 10, 1_000])(
    "reads an object with %d names, and refuses it if one of them is repeated",
    async (count) => {
      const names = Array.from({ length: count }, (_, at) => `"n${at}":{"x":[{"n0":1}]}`);
      const objectOf = (...more: string[]) => `{${[...names, ...more].join(",")}}`;
      expect(await refusalOf(() => parseMessage(objectOf()))).toBeUndefined();
      for (const twice of [0, count - 1]) {
        const [, detail] = (await refusalOf(() => parseMessage(objectOf(`"N${twice}":1`)))) ?? [];
        expect(detail).toContain(`"N${twice}"`);
        const inList = `[${objectOf()},${objectOf()},${objectOf(`"N${twice}":1`)}]`;
        expect((await refusalOf(() => parseMessage(inList)))?.[1]).toContain(`"N${twice}"`);
      }
    },
  );

  test.each([
    "{}",
    '[{"a":1,"b":2},{"b":1,"a":2},{"a":1},{"ab":1,"b":2},{"a":1,"b":2,"c":3}]',
    '{"a":"b","b":"a"}',
    '{"a":{"a":1},"b":{"a":1},"c":[{"a":1},{"a":1}]}',
    '[{"a":1},{"A":1}]',
    '{"x":"{\\"a\\":1,\\"a\\":2}"}',
    '{"x":"\\\\","y":"\\\\\\"","z":["x","x"]}',
    '{ "a" : [ 1 , "a" , { "b" : null } ] , "b" : "a" }',
  ])("%s is accepted", async (json) => {
    JSON.parse(json);
    expect(await refusalOf(() => parseMessage(json))).toBeUndefined();
  });
});

describe("a query", () => {
  const read = (query: string) => readQuery(new Request(`http://localhost/scim/v2/Users${query}`));

  test("reads a query without parameters as empty", () => {
    expect([read("").size, read("?").size, read("?&&").size]).toEqual([0, 0, 0]);
  });

  test("matches names in any letter case and uses the last of a repeated one", () => {
    const { filter, startIndex, count, sortBy, sortOrder } = listOf(
      read("?FILTER=a&Filter=b&startindex=1&COUNT=2&SortBy=x&SORTORDER=y"),
    );
    expect({ filter, startIndex, count, sortBy, sortOrder }).toEqual({
      filter: "b",
      startIndex: "1",
      count: "2",
      sortBy: "x",
      sortOrder: "y",
    });
  });

  test("SCIM-51 decodes plus signs as blanks and %2B as plus signs", () => {
    const text = "?filter=userName+eq+%22a%2Bb%40c.d%22";
    expect(listOf(read(text)).filter).toBe('userName eq "a+b@c.d"');
  });

  test("may have equal signs in a value", () => {
    expect(listOf(read('?filter=a eq "x=y=="')).filter).toBe('a eq "x=y=="');
  });

  test("separates attributes with commas and ignores an empty list", () => {
    expect(viewOf(read("?attributes=userName, emails.value ,&excludedAttributes="))).toEqual({
      attributes: ["userName", "emails.value"],
      excludedAttributes: undefined,
    });
  });

  test.each([
    [ATTRIBUTE_LIST_CHARACTERS_MAX - 1, undefined],
    [ATTRIBUTE_LIST_CHARACTERS_MAX, undefined],
    [ATTRIBUTE_LIST_CHARACTERS_MAX + 1, "invalidValue"],
  ])("a list of attributes of %d characters is refused as %p", async (length, scimType) => {
    const attributes = ",".repeat(length);
    expect((await refusalOf(() => viewOf(read(`?attributes=${attributes}`))))?.[0]).toBe(scimType);
    for (const sent of [attributes, Array(length + 1).fill("")]) {
      const message = { schemas: [SEARCH_REQUEST], excludedAttributes: sent };
      expect((await refusalOf(() => readSearchMessage(message)))?.[0]).toBe(scimType);
    }
  });

  test.each(["?filter=%zz", "?filter=%ff", "?unknown=%", "?%c3=1"])("%s is malformed", async (query) => {
    expect((await refusalOf(() => read(query)))?.[0]).toBe("invalidSyntax");
  });

  test.each(["?access_token=x", "?Access_Token=", "?filter=a&password=x"])(
    "%s is refused because it contains a secret",
    async (query) => {
      const [scimType, detail] = (await refusalOf(() => read(query))) ?? [];
      expect([scimType, detail]).toEqual(["sensitive", expect.not.stringContaining("=x")]);
    },
  );

  test("may have unknown parameters", () => {
    expect(listOf(read("?aadOptscim062020&__proto__=x&constructor=y")).filter).toBeUndefined();
  });
});

describe("a search message", () => {
  test("becomes the same list request as a query", () => {
    const body = {
      SCHEMAS: [SEARCH_REQUEST],
      Attributes: ["userName", " id "],
      excludedAttributes: null,
      filter: "x",
      sortBy: "y",
      sortOrder: "z",
      startIndex: 1,
      count: "2",
      unknown: {},
    };
    expect(readSearchMessage(body)).toEqual({
      attributes: ["userName", "id"],
      excludedAttributes: undefined,
      filter: "x",
      sortBy: "y",
      sortOrder: "z",
      startIndex: 1,
      count: "2",
    });
  });

  test("is refused with all its problems at once", async () => {
    const [scimType, detail] =
      (await refusalOf(() => readSearchMessage({ filter: 1, attributes: [1], count: {}, sortBy: [] }))) ?? [];
    expect(scimType).toBe("invalidValue");
    for (const name of ["filter", "attributes", "count", "sortBy"]) expect(detail).toContain(name);
  });

  test.each([[undefined], [[]], [[SEARCH_REQUEST, "urn:other"]], [[SEARCH_REQUEST.toUpperCase()]]])(
    "accepts a search message with the schemas %p",
    async (schemas) => {
      expect(await refusalOf(() => readSearchMessage({ schemas }))).toBeUndefined();
    },
  );

  test("refuses a message of another kind", async () => {
    expect((await refusalOf(() => readSearchMessage({ schemas: ["urn:other"] })))?.[0]).toBe("invalidSyntax");
  });
});

test.each([
  [undefined, "application/scim+json"],
  ["*/*", "application/scim+json"],
  ["application/*", "application/scim+json"],
  ["application/scim+json", "application/scim+json"],
  ["application/json", "application/json"],
  ["Application/JSON; q=0.9", "application/json"],
  ["text/html, application/json", "application/json"],
  ["application/json, application/scim+json", "application/scim+json"],
  ["application/json, */*;q=0.1", "application/scim+json"],
  ["text/html", "application/scim+json"],
  ["", "application/scim+json"],
])("a caller that accepts %p is answered in %s", (accept, mediaType) => {
  const headers = accept === undefined ? {} : { accept };
  expect(responseMediaType(new Request("http://localhost/", { headers }))).toBe(mediaType);
});

test.each([
  ["Okta SCIM Client 1.0.0", "okta"],
  ["Microsoft.IdentityManagement/1.0 AzureAD", "entra"],
  ["authentik/2026.2 (goauthentik.io)", "authentik"],
  ["curl/8", undefined],
  [null, undefined],
])("the User-Agent %p is recognized as %p", (userAgent, provider) => {
  expect(providerIn(userAgent)).toBe(provider);
});

test.each([
  [{}, 0],
  [{ Operations: "x" }, 0],
  [{ Operations: [] }, 0],
  [{ operations: [1] }, 0],
  [{ Operations: Array(999) }, 998],
  [{ Operations: Array(1_000) }, 999],
  [{ Operations: Array(1_001) }, 0],
])("a bulk request is charged for each operation after the first, unless none of them ran", (body, cost) => {
  expect(bulkCost(body)).toBe(cost);
});
