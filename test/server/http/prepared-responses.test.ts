// Conditional requests: what If-None-Match names, and when a response is built again.
import { describe, expect, test } from "bun:test";
import {
  namesTag,
  preparedText,
  prepareResponse,
  respondConditionally,
} from "../../../src/server/http/conditional.ts";

const HEADERS = { contentType: "text/plain", cacheControl: "private, no-cache", others: { "x-more": "1" } };
const TAG = '"abc"';

test.each([
  [TAG, true],
  [`W/${TAG}`, true],
  ["*", true],
  [`"x", ${TAG}`, true],
  [`"x",W/${TAG} ,"y"`, true],
  ['"x", "y"', false],
  ["abc", false],
  ["", false],
])("If-None-Match: %s", (header, isNamed) => {
  expect(namesTag(header, TAG)).toBe(isNamed);
});

describe("a prepared response", () => {
  const answer = prepareResponse(Buffer.from("text"), HEADERS);
  const request = (tag?: string) =>
    respondConditionally(
      new Request("http://localhost/", tag ? { headers: { "if-none-match": tag } } : {}),
      answer,
    );

  test.each([undefined, '"other"'])("includes the body for a caller that has %p", async (tag) => {
    const response = request(tag);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("text");
    expect(response.headers.get("content-type")).toBe("text/plain");
  });

  test("omits the body and keeps the tag for a caller with the current tag", async () => {
    const response = request(answer.etag);
    expect(response.status).toBe(304);
    expect(await response.text()).toBe("");
  });

  test.each([undefined, answer.etag])("has its tag and caching headers (%p)", (tag) => {
    const { headers } = request(tag);
    expect(["etag", "cache-control", "x-more"].map((name) => headers.get(name))).toEqual([
      answer.etag,
      "private, no-cache",
      "1",
    ]);
    expect(answer.etag).toMatch(/^"[0-9a-f]{32}"$/);
  });
});

test("a prepared text is reused until the text changes", () => {
  let text = "one";
  const current = preparedText(() => text, HEADERS);
  const first = current();
  expect(current()).toBe(first);
  text = "two";
  const second = current();
  expect(second.etag).not.toBe(first.etag);
  expect(current()).toBe(second);
});
