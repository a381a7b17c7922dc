// Gateway mode with its keys, and sign-in, provisioning and its tokens.
import type { Page } from "playwright-core";
import type { Area } from "../scenes.ts";

const GATEWAY = "/console/gateway";
const TOKENS = "/console/identity/tokens";

export const gatewayArea: Area = {
  async seed(site) {
    const { domain, world } = site.server;
    const user = domain.identity.users.find(world.organizationId, site.admin.email);
    // Refused, because the gateway has no account of the administrator: a key with a problem.
    await domain.gateway.keys.ensure({ actor: world.system, user, manual: true }).catch(() => undefined);
  },
  scenes: [
    {
      title: "Gateway",
      async open(page: Page) {
        await page.goto(GATEWAY);
        await page.getByText("Checked").waitFor(); // by the script
      },
    },
    { title: "Gateway keys", open: `${GATEWAY}/keys` },
    { title: "Identity", open: "/console/identity" },
    { title: "SCIM tokens", open: TOKENS },
    { title: "SCIM tokens", state: "with impossible filters", open: `${TOKENS}?show=x&page=x` },
    { title: "Create a token", open: `${TOKENS}/new` },
  ],
};
