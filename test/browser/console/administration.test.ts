// CON-151 and CON-157: more tasks of administrators in the console, with and without its script, and with the keyboard alone.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { publishOn } from "../../domain/clients/clients-world.ts";
import { packageWith, reportedHarness, reportWith } from "../../domain/clients/policies.ts";
import { heading, openSite, press, type Site } from "../../support/browser/browser.ts";

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site[Symbol.asyncDispose]());
afterEach(() => expect(site.takeComplaints()).toEqual([]));

/** Makes a member with workstations of these names. @returns the address */
async function withWorkstations(
  name: string,
  hosts: readonly string[],
  members: object = {},
): Promise<string> {
  const email = `${name}@example.com`;
  const { accessToken: token } = await site.server.signedIn("member", { email });
  for (const hostname of hosts) {
    const body = reportWith({ instance_id: hostname, hostname, ...members });
    await site.server.request("POST", "/client-status", { token, body });
  }
  return email;
}

const removeBehindThePage = async (host: string): Promise<void> => {
  const { domain, world } = site.server;
  await domain.clients.removals.remove(
    world.system,
    domain.clients.inventory.find(world.organizationId, host).id,
  );
};

const row = (page: Page, text: string) => page.locator("tbody tr", { hasText: text });

describe("CON-151 an administrator", () => {
  describe.each([
    ["with the script", true],
    ["without the script", false],
  ])("%s", (_, javaScriptEnabled) => {
    const name = javaScriptEnabled ? "scripted" : "plain";
    const opened = () => site.visitor({ javaScriptEnabled, as: site.admin });

    test("finds why a user lacks a package", async () => {
      const packages = [packageWith(), packageWith({ id: "review-guide" })];
      const config_revision = await publishOn(site.server, {
        document: { packages },
        audiences: { "review-guide": { scope: "users", user_ids: [] } },
      });
      const email = await withWorkstations(`lacks-${name}`, [`lacks-${name}-1`], {
        config_revision,
        harnesses: [reportedHarness()],
        packages: [],
      });
      await using visitor = await opened();
      const { page } = visitor;
      await page.goto("/console/users");
      await page.getByLabel("Search").last().fill(email);
      await page.getByRole("button", { name: "Apply" }).click();
      await page.getByRole("link", { name: email, exact: true }).click();
      await page.getByRole("heading", { name: email }).waitFor();
      const main = page.getByRole("main");
      expect(await main.textContent()).toContain("For others only: review-guide");
      await page.getByRole("link", { name: `lacks-${name}-1` }).click();
      await page.getByRole("heading", { name: `lacks-${name}-1` }).waitFor();
      expect(await main.textContent()).toContain("Missing");
    });

    test("revokes workstations, tolerates one that was removed in the meantime, and tries it again", async () => {
      const hosts = [1, 2, 3].map((number) => `bulk-${name}-${number}`);
      await withWorkstations(`bulk-${name}`, hosts);
      await using visitor = await opened();
      const { page } = visitor;
      await page.goto(`/console/clients?q=bulk-${name}`);
      await row(page, hosts[0] ?? "")
        .getByRole("checkbox")
        .check();
      await page.getByRole("link", { name: "Select all 3 on this page" }).click();
      await page.getByRole("link", { name: "Select none" }).waitFor();
      expect(await page.locator("tbody input:checked").count()).toBe(3);
      await page.getByRole("link", { name: "Select none" }).click();
      await page.getByRole("link", { name: "Select all 3 on this page" }).click();
      await page.getByRole("link", { name: "Select none" }).waitFor();
      await press(page, "Revoke…");
      expect(await heading(page)).toContain("3 workstations");
      const named = await page.getByRole("main").textContent();
      for (const host of hosts) expect(named).toContain(host);
      await removeBehindThePage(`bulk-${name}-2`);
      await press(page, "Revoke");
      const result = page.getByRole("list", { name: "Result" });
      expect(await result.textContent()).toContain("1 refused");
      expect(await result.textContent()).not.toContain("0 done");
      await press(page, "Retry the refused ones");
      expect(await result.textContent()).toContain("1 refused");
    });

    test("makes a token for the identity provider, which is shown once, and revokes it", async () => {
      await using visitor = await opened();
      const { page } = visitor;
      await page.goto("/console/identity/tokens");
      await page.getByRole("link", { name: "Create a token" }).click();
      await page.getByRole("heading", { name: "Create a token" }).waitFor();
      await page.getByLabel("Label").fill(`provider-${name}`);
      await press(page, "Create token");
      const token = await page.locator("main code").first().textContent();
      expect(token?.length).toBeGreaterThan(20);
      await page.goto("/console/identity/tokens");
      expect(await page.content()).not.toContain(token ?? "");
      await page.getByRole("link", { name: `Revoke provider-${name}` }).click();
      await page
        .getByRole("heading", { name: /Revoke/ })
        .last()
        .waitFor();
      await press(page, "Revoke token");
      expect(await page.getByRole("status").textContent()).toContain(`provider-${name}`);
      expect(await page.getByRole("link", { name: `Revoke provider-${name}` }).count()).toBe(0);
    });
  });
});

const focused = (page: Page): Promise<string> =>
  page.evaluate(() => document.activeElement?.textContent?.trim() ?? "");

/** Presses Tab until something with this text has the focus, which must be visible at every stop. */
async function tabTo(page: Page, text: string): Promise<void> {
  for (let stop = 0; stop < 80; stop++) {
    await page.keyboard.press("Tab");
    if ((await focused(page)) === text) return;
  }
  throw new Error(`the Tab key does not reach ${text}`);
}

describe("CON-157 the keyboard alone", () => {
  test.each([[true], [false]])(
    "an administrator revokes workstations (script: %p)",
    async (javaScriptEnabled) => {
      const prefix = `keys-${javaScriptEnabled}`;
      await withWorkstations(prefix, [`${prefix}-1`, `${prefix}-2`]);
      await using visitor = await site.visitor({ javaScriptEnabled, as: site.admin });
      const { page } = visitor;
      await page.goto(`/console/clients?q=${prefix}`);
      if (javaScriptEnabled) for (const key of ["j", "x", "j", "x"]) await page.keyboard.press(key);
      else {
        await tabTo(page, "Last seen");
        await page.keyboard.press("Tab");
        await page.keyboard.press("Space");
        await tabTo(page, `${prefix}@example.com`);
        await page.keyboard.press("Tab");
        await page.keyboard.press("Space");
      }
      expect(await page.locator("tbody input:checked").count()).toBe(2);
      await tabTo(page, "Revoke…");
      await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
      expect(await heading(page)).toContain("2 workstations");
      await tabTo(page, "Cancel");
      await page.keyboard.press("Tab");
      expect(await focused(page)).toBe("Revoke");
      await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
      expect(await heading(page)).toMatch(/revoked/i);
    },
  );

  test("CON-40 the filter by user proposes addresses while one is typed, also after the list was swapped", async () => {
    await using visitor = await site.visitor({ javaScriptEnabled: true, as: site.admin });
    const { page } = visitor;
    await site.member("proposed.person@example.com");
    await page.goto("/console/clients");
    for (const text of ["proposed", "proposed.per"]) {
      await page.getByLabel("User", { exact: true }).fill(text);
      await page
        .locator('#filter-user-found option[value="proposed.person@example.com"]')
        .waitFor({ state: "attached" });
      await page.getByLabel("User", { exact: true }).fill("");
      await page.getByLabel("State").selectOption({ index: 1 });
      await page.getByRole("button", { name: "Apply" }).click();
      await page.getByRole("link", { name: "Clear all", exact: true }).waitFor();
    }
  });

  test("the palette opens the first result, even before it is shown", async () => {
    await using visitor = await site.visitor({ javaScriptEnabled: true, as: site.admin });
    const { page } = visitor;
    await page.goto("/console");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("invitations");
    await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
    expect(await heading(page)).toBe("Invitations");
  });

  test("the focus stays in a dialog and returns to what opened it", async () => {
    const email = await withWorkstations("dialog", []);
    await using visitor = await site.visitor({ javaScriptEnabled: true, as: site.admin });
    const { page } = visitor;
    await page.goto(`/console/users?q=${email}`);
    await tabTo(page, email);
    await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
    await tabTo(page, "Suspend");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    expect(await focused(page)).toBe("Cancel");
    for (let stop = 0; stop < 12; stop++) {
      await page.keyboard.press("Tab");
      const place = await page.evaluate(() => {
        const { activeElement, body } = document;
        return activeElement === body || activeElement?.closest("dialog") !== null;
      });
      expect(place).toBe(true);
    }
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focused(page)).toBe("Suspend");
  });

  test("nothing moves for readers who prefer reduced motion", async () => {
    await using visitor = await site.visitor({
      javaScriptEnabled: true,
      reducedMotion: "reduce",
      as: site.admin,
    });
    const { page } = visitor;
    for (const path of ["/console", "/console/clients", "/console/users"]) {
      await page.goto(path);
      const moving = await page.evaluate(() =>
        [...document.querySelectorAll("*")].flatMap((element) => {
          const { animationName, transitionDuration } = getComputedStyle(element);
          const isMoving =
            animationName !== "none" || transitionDuration.split(", ").some((time) => time !== "0s");
          return isMoving ? [element.outerHTML.slice(0, 80)] : [];
        }),
      );
      expect([path, moving]).toEqual([path, []]);
    }
  });
});
