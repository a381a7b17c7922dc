// The headers of every response.
import { expect, test } from "bun:test";
import { complete, json } from "../../../src/server/http/responses.ts";

const STANDING = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
};
const headersOf = (response: Response) =>
  Object.fromEntries(complete(response, { requestId: "1", secure: false }).headers);

test.each(Object.keys(STANDING))("a response that sets %s itself keeps it and gets the others", (name) => {
  const response = new Response("", { headers: { [name]: "its-own" } });
  expect(headersOf(response)).toMatchObject({ ...STANDING, [name]: "its-own" });
});

test("a prepared response keeps the value that it replaced", () => {
  const response = json({}, { headers: { "referrer-policy": "same-origin" } });
  expect(headersOf(response)).toMatchObject({ ...STANDING, "referrer-policy": "same-origin" });
});
