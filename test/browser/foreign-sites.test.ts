// Pages of other origins cannot act for a signed-in user, in a real browser with scripts on. One such page is on another site, one
// on another port of the same site, where the browser sends the session cookie with the form.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Server } from "bun";
import { heading, openSite, type Site } from "../support/browser/browser.ts";
import { FOREIGN_HOST } from "../support/browser/chromium.ts";

let site: Site;
let hostile: Server<undefined>;
let hostilePage = "";
beforeAll(async () => {
  site = await openSite({ hasConsole: false });
  hostile = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => new Response(hostilePage, { headers: { "content-type": "text/html" } }),
  });
});
afterAll(async () => {
  await hostile.stop(true);
  await site[Symbol.asyncDispose]();
});
afterEach(() => {
  site.takeComplaints(); // these pages are another origin
});

const form = (action: string, fields: Record<string, string>): string => {
  const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
  return `<form method="post" action="${action}">${inputs.join("")}<button>Win a prize</button></form>`;
};

describe.each([
  // A form from there comes without the cookie. Like a signed-out visitor, it is redirected to the page that it wanted to skip.
  ["another site", FOREIGN_HOST, "Allow workstation access?"],
  ["another port", "127.0.0.1", "Not allowed"],
])("a page on %s", (_, host, undecided) => {
  const address = () => `http://${host}:${hostile.port}/`;

  test.each([
    ["", ""],
    [" that hides where it is", '<meta name="referrer" content="no-referrer">'],
  ])("cannot approve a device login with a form%s", async (_name, head) => {
    const workstation = await site.workstation();
    await using visitor = await site.visitor({ as: site.admin, javaScriptEnabled: true });
    const { page } = visitor;
    await page.goto(workstation.link);
    const csrf = await page.locator("[name=csrf]").first().inputValue();

    // Even if that page knows the form's token.
    hostilePage = head + form(workstation.link, { csrf, decision: "approve" });
    await page.goto(address());
    await Promise.all([page.waitForEvent("load"), page.getByRole("button").click()]);

    expect(await heading(page)).toBe(undecided);
    expect((await workstation.poll()).body.error).toBe("authorization_pending");
  });

  test("cannot sign a user out", async () => {
    await using visitor = await site.visitor({ as: site.admin, javaScriptEnabled: true });
    const { page } = visitor;
    await page.goto("/");
    const csrf = await page.locator("[name=csrf]").inputValue();
    hostilePage = form(`${site.baseUrl}/sign-out`, { csrf });
    await page.goto(address());
    await Promise.all([page.waitForEvent("load"), page.getByRole("button").click()]);
    await page.goto("/");
    expect(await heading(page)).toBe("Your account");
  });

  test("cannot send a request with a script or read a response", async () => {
    const workstation = await site.workstation();
    await using visitor = await site.visitor({ as: site.admin, javaScriptEnabled: true });
    const { page } = visitor;
    await page.goto(workstation.link);
    hostilePage = "";
    await page.goto(address());
    const outcomes = await page.evaluate(
      async (target) => {
        const send = (init: RequestInit) =>
          fetch(target, { credentials: "include", ...init }).then(
            (answer) => answer.type,
            () => "failed",
          );
        const json = { "content-type": "application/json" };
        const body = JSON.stringify({ action: "approve" });
        return [
          await send({}),
          await send({ method: "POST", headers: json, body }),
          await send({ method: "POST", body }),
        ];
      },
      workstation.link.replace("/device/", "/api/device/"),
    );
    expect(outcomes).toEqual(["failed", "failed", "failed"]);
    expect((await workstation.poll()).body.error).toBe("authorization_pending");
  });

  test("cannot frame the approval, and the browser reports why", async () => {
    const workstation = await site.workstation();
    await using visitor = await site.visitor({ as: site.admin, javaScriptEnabled: true });
    const { page } = visitor;
    hostilePage = `<iframe src="${workstation.link}"></iframe>`;
    await page.goto(address());
    const framed = page.frames()[1];
    expect(await framed?.locator("button").count()).toBe(0);
    expect(site.takeComplaints().join()).toContain("frame-ancestors 'none'");
  });
});
