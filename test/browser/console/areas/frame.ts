// The frame itself: refusals, invalid addresses, missing pages, and a form whose session has ended.
import type { Page } from "playwright-core";
import type { Area } from "../scenes.ts";

/** Chooses colors after the session ended. */
async function chooseLate(page: Page): Promise<void> {
  await page.goto("/console/audit");
  await page.context().clearCookies();
  await page.locator(".account-menu summary").click();
  await page.getByRole("button", { name: "Dark", exact: true }).click();
}

export const frameArea: Area = {
  scenes: [
    { title: "Audit log", open: "/console/audit" },
    { title: "Audit log", state: "with filters that match nothing", open: "/console/audit?actor=nobody" },
    { title: "Audit log", state: "with impossible filters", open: "/console/audit?page=x&since=2027-02-30" },
    { title: "Audit log", state: "for an auditor", as: "auditor", open: "/console/audit" },
    { title: "Administrators only", as: "member", open: "/console/audit" },
    { title: "Sign in again", open: chooseLate },
    {
      title: "Sign in again",
      state: "after a wrong password",
      open: async (page) => {
        await chooseLate(page);
        await page.getByLabel("Email").fill("nobody@example.com");
        await page.getByLabel("Password").fill("wrong-password");
        await page.getByRole("button", { name: "Sign in and send" }).click();
        await page.getByRole("alert").waitFor();
      },
    },
  ],
};
