// Which paths refuse in which words, at the edges between them.
import { expect, test } from "bun:test";
import { type Dialect, dialectOf } from "../../../../src/server/http/problems/dialect.ts";

const cases: [path: string, dialect: Dialect][] = [
  ["/", "page"],
  ["/login", "page"],
  ["/login/", "page"],
  ["/login/x", "page"],
  ["/loginx", "problem"],
  ["/api/auth/callback/x", "page"],
  ["/api/auth/callbacks", "problem"],
  ["/api/auth/backchannel-logout/x", "problem"],
  ["/sign-out", "page"],
  ["/device", "page"],
  ["/device/abc", "page"],
  ["/devices", "problem"],
  ["/accept-invitation", "page"],
  ["/accept-invitation/done", "page"],
  ["/set-password", "page"],
  ["/set-password/done", "page"],
  ["/api/auth/device/code", "oauth"],
  ["/api/auth/device/token", "oauth"],
  ["/api/auth/device", "oauth"],
  ["/api/auth/oauth2/token", "oauth"],
  ["/api/auth/oauth2/nothing", "oauth"],
  ["/api/auth/sign-in/email", "problem"],
  ["/api/device/abc", "problem"],
  ["/nothing", "problem"],
  ["/scim", "scim"],
  ["/scim/", "scim"],
  ["/scim/v1/Users", "scim"],
  ["/scim/v2/nothing", "scim"],
  ["/scimitar", "problem"],
  ["/SCIM/v2/Users", "problem"],
];

test.each(cases)("%s refuses as %s", (path, dialect) => {
  expect(dialectOf(path)).toBe(dialect);
});
