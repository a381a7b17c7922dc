// Errors that quote a text of the body that names something unknown.
import { expect, test } from "bun:test";
import { EXCERPT_CHARACTERS_MAX } from "../../../../src/platform/text/problem-list.ts";
import { createTestServer } from "../../../support/server.ts";
import { sharedServer } from "../../../support/shared.ts";

const LONG = "x".repeat(2_000);
const REPEATED = new RegExp(`x{${EXCERPT_CHARACTERS_MAX + 1}}`);
const site = sharedServer(createTestServer);

test.each([
  ["POST", "/admin/governance-config/rollback", { revision: LONG, base_revision: "" }],
  ["PUT", "/admin/policy-draft", { version: 0, revision: LONG }],
  ["PUT", "/admin/policy-draft", { version: 0, package: { id: LONG, catalog: true } }],
] as const)("the refusal of %s %s repeats only part of an unknown name", async (method, path, body) => {
  const { signedIn, request } = await site();
  const { accessToken: token } = await signedIn("admin");
  const response = await request(method, path, { token, body });
  const answer = await response.text();
  expect([response.status, answer.includes("xxx"), REPEATED.test(answer)]).toEqual([404, true, false]);
});
