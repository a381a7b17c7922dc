// Errors of the OpenID Connect library are translated to domain errors: by their code, or by a domain error among their causes.
import { expect, test } from "bun:test";
import { CAUSES_MAX, fromLibrary } from "../../../../src/domain/sso/provider/client/library-errors.ts";
import { unreachable } from "../../../../src/domain/sso/provider/failures.ts";
import { DomainError } from "../../../../src/platform/errors.ts";

const errorWith = (members: object) => Object.assign(new Error("of the library"), members);
const reasonOf = (error: unknown) => (error instanceof DomainError ? error.reason : error);

test.each([
  ["OAUTH_WWW_AUTHENTICATE_CHALLENGE", { status: 401 }, "sso.client_rejected"],
  ["OAUTH_WWW_AUTHENTICATE_CHALLENGE", { status: 400 }, "sso.provider_error"],
  ["OAUTH_WWW_AUTHENTICATE_CHALLENGE", {}, "sso.provider_error"],
  ["OAUTH_RESPONSE_BODY_ERROR", { error: "invalid_grant" }, "sso.code_rejected"],
  ["OAUTH_RESPONSE_BODY_ERROR", { error: "invalid_client" }, "sso.client_rejected"],
  ["OAUTH_RESPONSE_BODY_ERROR", { error: "unauthorized_client" }, "sso.client_rejected"],
  ["OAUTH_RESPONSE_BODY_ERROR", { error: "constructor" }, "sso.provider_error"],
  ["OAUTH_RESPONSE_BODY_ERROR", {}, "sso.provider_error"],
  ["OAUTH_INVALID_RESPONSE", { cause: new Error("unexpected JWT") }, "sso.token_invalid"],
  ["OAUTH_INVALID_RESPONSE", { cause: new Error("unexpected body") }, "sso.provider_invalid"],
  ["OAUTH_INVALID_RESPONSE", {}, "sso.provider_invalid"],
])("%s with %j is %s", (code, members, reason) => {
  expect(reasonOf(fromLibrary(errorWith({ code, ...members })))).toBe(reason);
});

test.each([
  [{ error: "server_error" }, "server_error"],
  [{ error: "server_error", error_description: "try later" }, "server_error: try later"],
  [{ error: "server_error", error_description: 7 }, "server_error"],
])("the cause of %j is %p", (members, cause) => {
  const error = fromLibrary(errorWith({ code: "OAUTH_RESPONSE_BODY_ERROR", ...members }));
  expect(error).toMatchObject({ reason: "sso.provider_error", cause });
});

test("SSO-41 the cause of an error contains no secret that was sent", () => {
  const members = { error: "server_error", error_description: "hidden of quartermaster: hidden" };
  const error = fromLibrary(errorWith({ code: "OAUTH_RESPONSE_BODY_ERROR", ...members }), ["", "hidden"]);
  expect(error).toMatchObject({ cause: "server_error: [secret] of quartermaster: [secret]" });
});

test("an error that is not from the library is unchanged", () => {
  const others = [
    errorWith({ code: "ENOENT" }),
    errorWith({ code: 1 }),
    new TypeError("x"),
    "text",
    undefined,
  ];
  for (const error of others) expect(fromLibrary(error)).toBe(error);
});

test.each([
  [0, true],
  [1, true],
  [CAUSES_MAX - 2, true],
  [CAUSES_MAX - 1, true],
  [CAUSES_MAX, false],
])("a domain error below %d others is found: %p", (depth, isFound) => {
  const own = unreachable("the status is 503");
  let error: Error = own;
  for (let at = 0; at < depth; at += 1) error = new Error("of the library", { cause: error });
  expect(fromLibrary(error) === own).toBe(isFound);
});
