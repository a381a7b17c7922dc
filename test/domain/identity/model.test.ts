import { expect, test } from "bun:test";
import {
  EMAIL_LENGTH_MAX,
  EMAIL_LOCAL_LENGTH_MAX,
  emailKey,
  type Invitation,
  readEmail,
  toAdminInvitation,
  toAdminUser,
} from "../../../src/domain/identity/model.ts";
import {
  checkPassword,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
} from "../../../src/domain/identity/users/passwords.ts";
import type { Problem } from "../../../src/platform/errors.ts";
import { Secret } from "../../../src/platform/secret.ts";

function isEmail(text: string): boolean {
  const problems: Problem[] = [];
  readEmail(text, problems);
  return problems.length === 0;
}

test.each([
  "ann@example.com",
  " Ann@Example.COM ",
  "a.b+c@mail.example.co",
  "o'neil@example.com",
  "jörg@bücher.example",
  `${"l".repeat(EMAIL_LOCAL_LENGTH_MAX - 1)}@example.com`,
  `${"l".repeat(EMAIL_LOCAL_LENGTH_MAX)}@example.com`,
])("%p is an address", (text) => {
  expect(isEmail(text)).toBe(true);
});

test.each([
  "",
  "ann",
  "@example.com",
  "ann@",
  "ann@localhost",
  "a@b@c.d",
  "ann@.example.com",
  "ann@example.com.",
  "ann@example..com",
  "ann@-example.com",
  "ann@example-.com",
  ".ann@example.com",
  "ann.@example.com",
  "an..n@example.com",
  "an n@example.com",
  "ann@exam ple.com",
  "ann\n@example.com",
  "ann@example.com\0",
  "<ann@example.com>",
  '"ann"@example.com',
  "ann@[127.0.0.1]",
  `${"l".repeat(EMAIL_LOCAL_LENGTH_MAX + 1)}@example.com`,
])("%p is not an address", (text) => {
  expect(isEmail(text)).toBe(false);
});

test("an address may have the maximum number of characters", () => {
  const labels = `${"b".repeat(63)}.${"c".repeat(63)}.`;
  const ofLength = (length: number) => `${"a".repeat(64)}@${labels}`.padEnd(length, "d");
  expect(isEmail(ofLength(EMAIL_LENGTH_MAX - 1))).toBe(true);
  expect(isEmail(ofLength(EMAIL_LENGTH_MAX))).toBe(true);
  expect(isEmail(ofLength(EMAIL_LENGTH_MAX + 1))).toBe(false);
});

test("case, surrounding space and Unicode form do not change an address", () => {
  expect(emailKey(" J\u00d6RG@Example.com ")).toBe(emailKey("jo\u0308rg@example.com"));
});

test.each([
  [PASSWORD_LENGTH_MIN - 1, false],
  [PASSWORD_LENGTH_MIN, true],
  [PASSWORD_LENGTH_MIN + 1, true],
  [PASSWORD_LENGTH_MAX - 1, true],
  [PASSWORD_LENGTH_MAX, true],
  [PASSWORD_LENGTH_MAX + 1, false],
])("a password of %p characters is accepted: %p", (length, accepted) => {
  const problems: Problem[] = [];
  checkPassword(new Secret("😀".repeat(length)), problems);
  expect(problems.length === 0).toBe(accepted);
});

test("a user is shown with snake case, RFC 3339 times and without the organization", () => {
  const user = {
    id: "u",
    organizationId: "o",
    subject: "s",
    email: "ann@example.com",
    role: "admin",
    status: "suspended",
    protected: true,
    provisioningSource: "scim",
    createdAtMs: 0,
    updatedAtMs: 1_500,
  } as const;
  expect(toAdminUser(user)).toEqual({
    id: "u",
    subject: "s",
    email: "ann@example.com",
    role: "admin",
    active: false,
    status: "suspended",
    protected: true,
    provisioning_source: "scim",
    managed: true,
    created_at: "1970-01-01T00:00:00.000Z",
    updated_at: "1970-01-01T00:00:01.500Z",
  });
});

test.each([
  ["pending", 999, "pending"],
  ["pending", 1_000, "expired"],
  ["pending", 1_001, "expired"],
  ["accepted", 1_001, "accepted"],
  ["canceled", 1_001, "canceled"],
] as const)("a %p invitation that ends at 1000 is, at %p, %p", (status, nowMs, shown) => {
  const invitation: Invitation = {
    id: "i",
    organizationId: "o",
    email: "ann@example.com",
    role: "member",
    status,
    inviterEmail: null,
    expiresAtMs: 1_000,
    createdAtMs: 0,
  };
  expect(toAdminInvitation(invitation, nowMs).status).toBe(shown);
});
