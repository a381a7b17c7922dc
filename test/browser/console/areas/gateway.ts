// Gateway mode with its keys, and sign-in, provisioning and its tokens.
import type { Page } from "playwright-core";
import { rowOf, until } from "../../../support/inference/request-rows.ts";
import type { Area } from "../scenes.ts";

const GATEWAY = "/console/gateway";
const REQUESTS = `${GATEWAY}/requests`;
const MODELS = `${GATEWAY}/models`;
const TOKENS = "/console/identity/tokens";

export const gatewayArea: Area = {
  async seed(site) {
    const { domain, world } = site.server;
    const user = domain.identity.users.find(world.organizationId, site.admin.email);
    // Refused, because the gateway has no account of the administrator: a key with a problem.
    await domain.gateway.keys.ensure({ actor: world.system, user, manual: true }).catch(() => undefined);
    await domain.modelCatalog.refresh(world.organizationId);
    for (let number = 0; number < 30; number++)
      site.server.requestLog.add(
        rowOf(number, {
          userId: user.id,
          organizationId: world.organizationId,
          model: number % 4 === 0 ? "a-model-with-a-long-name-".repeat(6) : "gpt-5",
          httpStatus: [200, 200, 429, 503, null][number % 5] ?? null,
        }),
      );
    await until(async () => (await domain.requestLogs.list({})).total === 30);
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
    {
      title: "Reconciliation of all gateway keys",
      async open(page: Page) {
        await page.goto(`${GATEWAY}/keys/reconcile/progress?keys=4&revocations=2`);
        await page.getByText("keys are reconciled").waitFor();
      },
    },
    {
      title: "Nothing to do",
      state: "for keys that do not exist",
      open: `${GATEWAY}/keys/action?act=revoke&id=00000000-0000-4000-8000-000000000000&id=00000000-0000-4000-8000-000000000001`,
    },
    { title: "Models", open: MODELS },
    { title: "Models", state: "with impossible filters", open: `${MODELS}?state=x&page=x` },
    { title: "model-a", open: `${MODELS}/model?id=model-a` },
    { title: "Models of Codex", open: `${MODELS}/harnesses/codex` },
    { title: "Requests", open: REQUESTS },
    { title: "Requests", state: "none of which match", open: `${REQUESTS}?q=nowhere` },
    { title: "Requests", state: "with impossible filters", open: `${REQUESTS}?result=x&user=x&bucket=x` },
    {
      title: "Requests",
      state: "with numbers, every filter and a rare column",
      async open(page: Page) {
        await page.goto(
          `${REQUESTS}?filters=all&bucket=hour&columns=${encodeURIComponent("+repository,+path")}`,
        );
        await page.getByText("The numbers as a table").click();
      },
    },
    { title: "Identity", open: "/console/identity" },
    { title: "SCIM tokens", open: TOKENS },
    { title: "SCIM tokens", state: "with impossible filters", open: `${TOKENS}?show=x&page=x` },
    { title: "Create a token", open: `${TOKENS}/new` },
  ],
};
