// Responses that are sent in pieces, over a real connection.
import { expect, test } from "bun:test";
import { scimJson } from "../../../src/server/scim/responses.ts";

async function* piecesOf(texts: readonly string[]): AsyncGenerator<string> {
  yield* texts;
}

test("pieces of any characters arrive as UTF-8", async () => {
  const texts = ["a".repeat(70_000), "é".repeat(70_000), "漢😀".repeat(70_000), "z"];
  await using server = Bun.serve({ port: 0, fetch: (request) => scimJson(request, piecesOf(texts)) });
  const response = await fetch(server.url);
  expect(response.headers.get("content-type")).toBe("application/scim+json");
  expect(await response.text()).toBe(texts.join(""));
});
