// The pages about the reader, mostly as a member.

import type { Page } from "playwright-core";
import { changePassword } from "../../../support/browser/browser.ts";
import type { Area } from "../scenes.ts";

export const ownArea: Area = {
  async seed({ server: { domain, world }, admin }) {
    const { organizationId } = world;
    const { id } = domain.identity.users.find(organizationId, admin.email);
    const actor = { kind: "user", id, label: admin.email, organizationId } as const;
    const view = { path: "/console/users", query: "role=admin", isShared: true };
    const owner = { actor, userId: id, mayShare: true, readsAll: true };
    const names = ["Administrators", "A view with a very long name ".repeat(3).trim()];
    await domain.preferences.replace(owner, {
      views: names.map((name) => ({ ...view, name })),
      lists: [{ path: "/console/invitations", query: "per_page=50" }],
    });
  },
  scenes: [
    { title: "Saved views", open: "/console/me/views" },
    { title: "Saved views", state: "without any", as: "member", open: "/console/me/views" },
    {
      title: "Users",
      state: "with saved views, and the form of another",
      async open(page: Page) {
        await page.goto("/console/users?role=member");
        await page.getByText("Save this view").click();
      },
    },
    { title: "Your start page", as: "member", open: "/console/me" },
    { title: "Your policy", as: "member", open: "/console/me/policy" },
    { title: "Your policy", state: "of an administrator", open: "/console/me/policy?harness=claude" },
    { title: "Your workstations", as: "member", open: "/console/me/workstations" },
    {
      title: "Your workstations",
      state: "with an impossible filter",
      as: "member",
      open: "/console/me/workstations?health=x",
    },
    { title: "Your gateway key", as: "member", open: "/console/me/key" },
    { title: "Your gateway key", state: "of an administrator", open: "/console/me/key" },
    { title: "Your logins", as: "member", open: "/console/me/logins" },
    {
      title: "Your logins",
      state: "that are not there",
      as: "member",
      open: "/console/me/logins?kind=grant",
    },
    { title: "End all other logins?", as: "member", open: "/console/me/logins/end-others" },
    { title: "Your account", as: "member", open: "/console/me/account" },
    {
      title: "Your account",
      state: "after a mistake",
      as: "member",
      open: async (page) => {
        await page.goto("/console/me/account");
        await changePassword(page, "not the password", "an entirely new password");
      },
    },
  ],
};
