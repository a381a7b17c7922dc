// Pages that refuse a form and repeat its input, for every form of the server.
import { afterAll, expect, test } from "bun:test";
import {
  ENTERED_CHARACTERS_MAX,
  UNAUTHENTICATED_BODY_BYTES_MAX,
} from "../../../../src/server/http/bodies/body.ts";
import { PROBLEM_BYTES_MAX } from "../../../../src/server/http/problems/problem.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo } from "../../../support/browser/form-browser.ts";
import { createGatewayServer } from "../../../support/gateway/gateway-server.ts";

const site = await createGatewayServer();
afterAll(() => site[Symbol.asyncDispose]());

const DEVICE = "/device";
/** Six characters each in HTML. */
const quotes = (count: number): string => '"'.repeat(count);

test("the page that refuses a form has a bounded length, whatever was entered", async () => {
  const forms = (await site.server.allRoutes()).filter(({ hooks }) => hooks.detail?.["x-accepts"] === "form");
  let refused = 0;
  for (const { path, hooks } of forms) {
    const { cookie, ...caller } = await site.signedIn("admin");
    const page = await consoleBrowser(site, { cookie, ...caller }).visit(DEVICE);
    const csrf = formTo(page, DEVICE).fields.csrf ?? "";
    const place = path.replaceAll(/:\w+/g, crypto.randomUUID());
    const names = Object.keys(Object(Object(hooks.body).properties)).filter((name) => name !== "csrf");
    for (const name of names) {
      const body = new URLSearchParams({ csrf });
      const text = `${body}&${name}=`;
      const headers = {
        "content-type": "application/x-www-form-urlencoded",
        origin: "null",
        "sec-fetch-site": "same-origin",
      };
      const filled = text + quotes(UNAUTHENTICATED_BODY_BYTES_MAX - text.length);
      const response = await site.request("POST", place, { cookie, headers, body: Buffer.from(filled) });
      const isLong = (await response.bytes()).length > PROBLEM_BYTES_MAX;
      if (response.status >= 400) refused += 1;
      expect([path, name, response.status >= 400 && isLong]).toEqual([path, name, false]);
    }
  }
  expect(refused).toBeGreaterThan(20);
});

test("a refused form is shown again with what was entered, and a long page of it says where the text is", async () => {
  const browser = consoleBrowser(site, await site.signedIn("admin"));
  const enter = async (user_code: string) =>
    await browser.submit(formTo(await browser.visit(DEVICE), DEVICE), { user_code });
  for (const typed of [quotes(20), quotes(2 * ENTERED_CHARACTERS_MAX)]) {
    const again = await enter(typed);
    expect([again.status, formTo(again, DEVICE).fields.user_code]).toEqual([404, typed]);
  }
  const without = await enter(quotes(20_000));
  expect(without.status).toBe(404);
  expect(
    without.html.length < PROBLEM_BYTES_MAX && without.html.includes("where your browser still has it"),
  ).toBe(true);
});
