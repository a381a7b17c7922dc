// A person read from verified claims: what counts as verified, which lists of groups are known, and which texts are refused.
import { describe, expect, test } from "bun:test";
import { readPerson } from "../../../src/domain/sso/claims.ts";
import { CLAIM_TEXT_LENGTH_MAX, GROUPS_MAX } from "../../../src/domain/sso/model.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { SSO } from "./sso-world.ts";

const CLAIMS = { iss: SSO.issuer, sub: "subject-1" };
const read = (claims: Record<string, unknown>, settings: Partial<typeof SSO> = {}) =>
  readPerson({ ...CLAIMS, ...claims }, { ...SSO, ...settings });

function reasonOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof DomainError) return error.reason;
    throw error;
  }
  return "accepted";
}

test.each([
  [true, true],
  ["true", true],
  [false, false],
  ["false", false],
  ["yes", false],
  [1, false],
  [undefined, "absent"],
  [null, "absent"],
] as const)("SSO-6 email_verified %p reads as %p", (value, expected) => {
  expect(read({ email_verified: value }).emailVerified).toBe(expected);
});

describe("SSO-12 a list of groups", () => {
  const groups = (count: number) => Array.from({ length: count }, (_, at) => `group-${at}`);

  test.each([
    ["in the claim", { groups: ["a", "b"] }, { known: ["a", "b"] }],
    ["that is empty", { groups: [] }, { known: [] }],
    ["that is missing", {}, { unknown: "absent" }],
    ["that is one text", { groups: "a" }, { unknown: "malformed" }],
    ["with a number", { groups: ["a", 1] }, { unknown: "malformed" }],
    ["that is elsewhere", { _claim_names: { groups: "src1" } }, { unknown: "overage" }],
    [
      "that is elsewhere, next to a list",
      { groups: ["a"], _claim_names: { groups: "x" } },
      { unknown: "overage" },
    ],
    ["with hasgroups", { hasgroups: true }, { unknown: "overage" }],
    ["with hasgroups as a text", { hasgroups: "true", groups: ["a"] }, { unknown: "overage" }],
    ["below the limit", { groups: groups(GROUPS_MAX - 1) }, { known: groups(GROUPS_MAX - 1) }],
    ["at the limit", { groups: groups(GROUPS_MAX) }, { known: groups(GROUPS_MAX) }],
    ["above the limit", { groups: groups(GROUPS_MAX + 1) }, { unknown: "too_many" }],
  ] as const)("%s is known or not", (_, claims, expected) => {
    expect(read(claims).groups).toEqual(expected);
  });
});

test("SSO-10 the claim of groups may be nested, and a name with dots is found first", () => {
  const groupsClaim = "realm_access.roles";
  expect(read({ realm_access: { roles: ["a"] } }, { groupsClaim }).groups).toEqual({ known: ["a"] });
  expect(
    read({ "realm_access.roles": ["b"], realm_access: { roles: ["a"] } }, { groupsClaim }).groups,
  ).toEqual({
    known: ["b"],
  });
  expect(read({ realm_access: "a" }, { groupsClaim }).groups).toEqual({ unknown: "absent" });
  expect(read({}, { groupsClaim: "constructor.name" }).groups).toEqual({ unknown: "absent" });
});

test.each([
  ["below the limit", "a".repeat(CLAIM_TEXT_LENGTH_MAX - 1), "accepted"],
  ["at the limit", "a".repeat(CLAIM_TEXT_LENGTH_MAX), "accepted"],
  ["above the limit", "a".repeat(CLAIM_TEXT_LENGTH_MAX + 1), "sso.claims_invalid"],
  ["with a line feed", "a\nb", "sso.claims_invalid"],
  ["with a null character", "a\0", "sso.claims_invalid"],
  ["with half a character", "a\ud800", "sso.claims_invalid"],
  ["with a whole one", "a\u{1d49c}", "accepted"],
  ["that is a number", 7, "sso.claims_invalid"],
])("SSO-14 a text %s", (_, value, expected) => {
  for (const name of ["sub", "email", "name", "sid", "acr"])
    expect([name, reasonOf(() => read({ [name]: value }))]).toEqual([name, expected]);
});

test("SSO-14 a person contains nothing else from the token", () => {
  const person = read({
    phone_number: "1",
    address: { street: "a" },
    email: "ana@example.org",
    auth_time: 7,
    sid: "s",
  });
  expect(person).toEqual({
    issuer: SSO.issuer,
    subject: "subject-1",
    email: "ana@example.org",
    emailVerified: "absent",
    name: undefined,
    groups: { unknown: "absent" },
    externalId: undefined,
    missingClaims: [],
    providerSessionId: "s",
    authTimeMs: 7000,
    acr: undefined,
  });
});

test("SSO-11 required claims are compared exactly, and a text stands for a number or a truth value", () => {
  const requiredClaims = new Map([
    ["tid", "one"],
    ["level", "2"],
  ]);
  expect(read({ tid: "one", level: 2 }, { requiredClaims }).missingClaims).toEqual([]);
  expect(read({ tid: "One", level: [2] }, { requiredClaims }).missingClaims).toEqual(["tid", "level"]);
  expect(read({}, { requiredClaims }).missingClaims).toEqual(["tid", "level"]);
});
