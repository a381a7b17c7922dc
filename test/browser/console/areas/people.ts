// The pages about people.
import type { Page } from "playwright-core";
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

export const peopleArea: Area = {
  async seed(site) {
    await site.invite("invited@example.com");
    await site.member(`${"long-name-".repeat(6)}@${"subdomain.".repeat(15)}example.com`);
  },
  scenes: [
    { title: "Users", open: "/console/users?filters=all" },
    { title: "Users", state: "none of which match", open: "/console/users?q=nobody" },
    { title: "Users", state: "with impossible filters", open: "/console/users?role=x&not_seen=1&group=x" },
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
    { title: "Logins", state: "with impossible filters", open: "/console/logins?kind=x&user_id=x" },
  ],
};
