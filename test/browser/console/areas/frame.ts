// The frame itself: refusals, invalid addresses, and missing pages.
import type { Area } from "../scenes.ts";

export const frameArea: Area = {
  scenes: [
    { title: "Audit log", open: "/console/audit" },
    { title: "Audit log", state: "with filters that match nothing", open: "/console/audit?actor=nobody" },
    { title: "Audit log", state: "with impossible filters", open: "/console/audit?page=x&since=2027-02-30" },
    { title: "Audit log", state: "for an auditor", as: "auditor", open: "/console/audit" },
    { title: "Administrators only", as: "member", open: "/console/audit" },
    {
      title: "Sign in again",
      open: async (page) => {
        await page.goto("/console/audit");
        await page.context().clearCookies();
        await page.locator(".account-menu summary").click();
        await page.getByRole("button", { name: "Dark", exact: true }).click();
      },
    },
  ],
};
