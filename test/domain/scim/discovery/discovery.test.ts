// The discovery documents (RFC 7644 section 4), compared with the table that they are made from.
import { describe, expect, test } from "bun:test";
import { createDiscovery } from "../../../../src/domain/scim/discovery/discovery.ts";
import { ScimError } from "../../../../src/domain/scim/errors.ts";
import { USER_SCHEMA } from "../../../../src/domain/scim/schema/schema.ts";
import { CORE_GROUP, CORE_USER, ENTERPRISE_USER } from "../../../../src/domain/scim/wire.ts";

const BASE = "https://control.example.org";
const discovery = createDiscovery({ baseUrl: () => BASE, pageMax: 200 });
const read = (path: string, parameters = {}) => JSON.parse(discovery.answer(path, parameters).json);

const CHARACTERISTICS = [
  "name",
  "type",
  "multiValued",
  "description",
  "required",
  "caseExact",
  "mutability",
  "returned",
  "uniqueness",
];
interface Shown {
  name: string;
  subAttributes?: Shown[];
}
const withParts = (attributes: Shown[]): Shown[] =>
  attributes.flatMap((attribute) => [attribute, ...withParts(attribute.subAttributes ?? [])]);

function statusOf(work: () => unknown): number | undefined {
  try {
    work();
  } catch (error) {
    if (error instanceof ScimError) return error.status;
  }
  return undefined;
}

describe("the service document", () => {
  test("SCIM-112 describes the supported features with the configured limits", () => {
    expect(read("/ServiceProviderConfig")).toMatchObject({
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig"],
      documentationUri: `${BASE}/openapi.json`,
      patch: { supported: true },
      bulk: { supported: true, maxOperations: 1000, maxPayloadSize: 1_048_576 },
      filter: { supported: true, maxResults: 200 },
      changePassword: { supported: false },
      sort: { supported: true },
      etag: { supported: true },
      authenticationSchemes: [
        { type: "oauthbearertoken", primary: true, specUri: expect.stringContaining("rfc6750") },
      ],
      meta: { resourceType: "ServiceProviderConfig", location: `${BASE}/scim/v2/ServiceProviderConfig` },
    });
  });

  test("has a new version when the configuration changes", () => {
    const other = createDiscovery({ baseUrl: () => BASE, pageMax: 500 });
    const { etag } = discovery.answer("/ServiceProviderConfig", {});
    expect(other.answer("/ServiceProviderConfig", {}).etag).not.toBe(etag);
    expect(
      createDiscovery({ baseUrl: () => BASE, pageMax: 200 }).answer("/ServiceProviderConfig", {}).etag,
    ).toBe(etag);
  });
});

describe("SCIM-113 resource types", () => {
  test("lists resource types with their schemas and finds them one by one", () => {
    const list = read("/ResourceTypes");
    expect(list).toMatchObject({ totalResults: 2, startIndex: 1, itemsPerPage: 2 });
    expect(list.Resources).toEqual([read("/ResourceTypes/User"), read("/ResourceTypes/Group")]);
    expect(read("/ResourceTypes/User")).toMatchObject({
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
      id: "User",
      name: "User",
      endpoint: "/Users",
      schema: CORE_USER,
      schemaExtensions: [{ schema: ENTERPRISE_USER, required: false }],
      meta: { resourceType: "ResourceType", location: `${BASE}/scim/v2/ResourceTypes/User` },
    });
    expect(read("/ResourceTypes/Group")).toMatchObject({ endpoint: "/Groups", schema: CORE_GROUP });
  });
});

describe("SCIM-114 schemas", () => {
  test("lists schemas and finds them by URN in any letter case", () => {
    const list = read("/Schemas");
    expect(list.Resources.map(({ id }: { id: string }) => id)).toEqual([
      CORE_USER,
      ENTERPRISE_USER,
      CORE_GROUP,
    ]);
    expect(read(`/Schemas/${ENTERPRISE_USER}`)).toEqual(list.Resources[1]);
    expect(read(`/Schemas/${ENTERPRISE_USER.toUpperCase()}`)).toEqual(list.Resources[1]);
    expect(read(`/Schemas/${CORE_USER}`).meta.location).toBe(`${BASE}/scim/v2/Schemas/${CORE_USER}`);
  });

  test("describe each attribute completely, without null and without internal properties", () => {
    const { json } = discovery.answer("/Schemas", {});
    expect(json).not.toContain("null");
    const attributes = JSON.parse(json).Resources.flatMap((schema: { attributes: Shown[] }) =>
      withParts(schema.attributes),
    );
    const known = new Set([...CHARACTERISTICS, "canonicalValues", "referenceTypes", "subAttributes"]);
    for (const attribute of attributes) {
      expect(Object.keys(attribute)).toEqual(expect.arrayContaining(CHARACTERISTICS));
      expect(Object.keys(attribute).filter((name) => !known.has(name))).toEqual([]);
      if (attribute.type === "reference") expect(attribute.referenceTypes).not.toBeEmpty();
      if (attribute.type === "complex") expect(attribute.subAttributes).not.toBeEmpty();
    }
  });

  test("list every attribute of the table except the common ones and the password", () => {
    const names = read(`/Schemas/${CORE_USER}`).attributes.map(({ name }: Shown) => name);
    expect(names).toEqual(USER_SCHEMA.attributes.map(({ name }) => name));
    for (const hidden of ["id", "externalId", "meta", "schemas", "password"])
      expect(names).not.toContain(hidden);
  });

  test("require the attributes that the product needs of a user", () => {
    const required = read(`/Schemas/${CORE_USER}`).attributes.filter(
      ({ required }: { required: boolean }) => required,
    );
    expect(required.map(({ name }: Shown) => name)).toEqual(["userName", "active", "emails"]);
  });
});

describe("a partial document", () => {
  test("contains only the requested attributes in a list, in any letter case", () => {
    expect(read("/ResourceTypes", { attributes: ["ENDPOINT"] }).Resources[1]).toEqual({
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:ResourceType"],
      id: "Group",
      endpoint: "/Groups",
    });
  });

  test("contains only the requested nested attributes", () => {
    expect(
      read(`/Schemas/${CORE_GROUP}`, { attributes: ["attributes.name,attributes.subAttributes.type"] })
        .attributes,
    ).toEqual([
      { name: "displayName" },
      { name: "members", subAttributes: Array(4).fill({ type: expect.any(String) }) },
    ]);
  });

  test("omits excluded attributes except schemas and id", () => {
    const got = read(`/Schemas/${CORE_GROUP}`, {
      excludedAttributes: ["id,schemas,attributes.subAttributes", "meta"],
    });
    expect(Object.keys(got)).toEqual(["schemas", "id", "name", "description", "attributes"]);
    expect(got.attributes[1]).not.toHaveProperty("subAttributes");
  });

  test("keeps the entity tag of the whole document", () => {
    const whole = discovery.answer("/ResourceTypes/User", {});
    expect(whole.etag).toBe(JSON.parse(whole.json).meta.version);
    expect(discovery.answer("/ResourceTypes/User", { attributes: ["name"] }).etag).toBe(whole.etag);
  });

  test("is refused for both lists together", () => {
    expect(statusOf(() => read("/Schemas", { attributes: ["id"], excludedAttributes: ["name"] }))).toBe(400);
  });
});

describe("refusals", () => {
  test.each(["/ServiceProviderConfig", "/ResourceTypes", "/Schemas", `/Schemas/${CORE_USER}`])(
    "SCIM-115 a filter on %s is forbidden, even an empty one",
    (path) => {
      for (const filter of ['id eq "x"', "", " "]) expect(statusOf(() => read(path, { filter }))).toBe(403);
    },
  );

  test.each([
    "/ResourceTypes/Nope",
    "/ResourceTypes/user",
    "/Schemas/urn:nope",
    "/Schemas/",
    "/__proto__",
    "/constructor",
  ])("%s is not found", (path) => {
    expect(statusOf(() => read(path))).toBe(404);
  });
});

test("locations use the base URL of the service", () => {
  let base = "http://127.0.0.1:1";
  const moving = createDiscovery({ baseUrl: () => base, pageMax: 200 });
  moving.answer("/Schemas", {});
  base = BASE;
  expect(moving.answer("/Schemas", {}).json).not.toContain("127.0.0.1");
  expect(moving.answer("/Schemas", {}).location).toBe(`${BASE}/scim/v2/Schemas`);
});
