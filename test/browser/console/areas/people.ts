// The pages about people.
import type { Page } from "playwright-core";
import type { Site } from "../../../support/browser/browser.ts";
import type { Area } from "../scenes.ts";

const MEMBER = "member@example.com";

/** Opens the page of a user, and then a link on it. */
const ofUser =
  (email: string, link?: string) =>
  async (page: Page): Promise<void> => {
    await page.goto(`/console/users?q=${email}`);
    await page.goto((await page.getByRole("link", { name: email }).last().getAttribute("href")) ?? "");
    if (link === undefined) return;
    await page.goto((await page.getByRole("link", { name: link }).getAttribute("href")) ?? "");
  };

/** Selects three users, and opens the question of an action. */
const selected =
  (action: string) =>
  async (page: Page): Promise<void> => {
    await page.goto("/console/users?q=bulk-");
    for (const box of await page.getByRole("table").getByRole("checkbox").all()) await box.check();
    await Promise.all([page.waitForEvent("load"), page.getByRole("button", { name: action }).click()]);
  };

async function suspendSecond({ server: { domain, world } }: Site): Promise<void> {
  const { users } = domain.identity;
  const { id } = users.find(world.organizationId, "bulk-two@example.com");
  await users.update(world.system, id, { status: "suspended" });
}

export const peopleArea: Area = {
  async seed(site) {
    await site.invite("invited@example.com");
    for (const name of ["one", "two", "three"]) await site.member(`bulk-${name}@example.com`);
    await suspendSecond(site);
    await site.member(`${"long-name-".repeat(6)}@${"subdomain.".repeat(15)}example.com`);
  },
  scenes: [
    { title: "Users", open: "/console/users?filters=all" },
    { title: "Users", state: "none of which match", open: "/console/users?q=nobody" },
    { title: "Users", state: "with impossible filters", open: "/console/users?role=x&not_seen=1&group=x" },
    { title: "Suspend 3 users?", state: "with one that stays as it is", open: selected("Suspend…") },
    {
      title: "End all logins of 3 users?",
      state: "all that match",
      open: `/console/users/action?act=end_logins&all=1&filter=${encodeURIComponent("?q=bulk-")}`,
    },
    {
      title: "1 user resumed",
      state: "the result of many",
      open: async (page, site) => {
        await suspendSecond(site);
        await selected("Resume…")(page);
        await Promise.all([page.waitForEvent("load"), page.getByRole("button", { name: "Resume" }).click()]);
      },
    },
    { title: MEMBER, open: ofUser(MEMBER) },
    { title: "admin@example.com", state: "of the reader", open: ofUser("admin@example.com") },
    { title: MEMBER, state: "as an auditor reads it", as: "auditor", open: ofUser(MEMBER) },
    { title: `Suspend ${MEMBER}?`, state: "before it happens", open: ofUser(MEMBER, "Suspend") },
    { title: `Remove ${MEMBER}?`, state: "before it happens", open: ofUser(MEMBER, "Remove") },
    { title: "Invitations", open: "/console/invitations" },
    {
      title: "2 people invited",
      state: "with their links",
      open: async (page) => {
        await page.goto("/console/invitations");
        await page.getByText("Invite people").click();
        const unique = Date.now();
        await page.getByLabel("Addresses").fill(`a${unique}@example.com b${unique}@example.com nonsense`);
        await Promise.all([page.waitForEvent("load"), page.getByRole("button", { name: "Invite" }).click()]);
      },
    },
    { title: "Groups", open: "/console/groups" },
    { title: "Logins", open: "/console/logins" },
    {
      title: "Login: browser",
      open: async (page) => {
        await page.goto("/console/logins?kind=login_session");
        const first = page
          .locator("tbody")
          .getByRole("link", { name: /^Browser/ })
          .first();
        await Promise.all([page.waitForEvent("load"), first.click()]);
      },
    },
    { title: "Logins", state: "with impossible filters", open: "/console/logins?kind=x&user_id=x" },
  ],
};
