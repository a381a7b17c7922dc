// Workstations: the list, one of them, and removing and revoking.
import type { Page } from "playwright-core";
import { reportedHarness, reportedPackage, reportWith } from "../../../domain/clients/policies.ts";
import type { Site } from "../../../support/browser/browser.ts";
import type { Area } from "../scenes.ts";

const LONG = `${"very-long-host-".repeat(14)}\u202E<script>`;
/** From right to left. */
const FOREIGN = "\u05DE\u05D7\u05E9\u05D1-14";
const FAILING = {
  files_ok: false,
  error: `could not write the settings: ${"e".repeat(16_000)}`,
  harnesses: [
    reportedHarness({ path: "/usr/local/bin/codex", reconciled: false }),
    { name: "kimi", installed: false },
  ],
  packages: [reportedPackage({ state: "failed", error: "digest mismatch" })],
};

const idOf = ({ server: { domain, world } }: Site, host: string): string =>
  domain.clients.inventory.find(world.organizationId, host).id;

const openClient = (host: string) => (page: Page, site: Site) =>
  page.goto(`/console/clients/${idOf(site, host)}`);
/** The question about two workstations. */
const openTwo = (act: string) => (page: Page, site: Site) => {
  const ids = ["lab-14", "lab-15"].map((name) => `id=${idOf(site, name)}`);
  return page.goto(`/console/clients/action?act=${act}&${ids.join("&")}`);
};
const openAction = (query: string) => (page: Page) => page.goto(`/console/clients/action?${query}`);

export const fleetArea: Area = {
  async seed({ server }) {
    const { accessToken: token } = await server.signedIn("member", { email: "fleet@example.com" });
    for (const members of [
      { instance_id: "fleet-1", hostname: "lab-14" },
      { instance_id: "fleet-2", hostname: "lab-15", ...FAILING },
      {
        instance_id: "i".repeat(128),
        hostname: LONG,
        client_version: "1".repeat(128),
        platform: "p".repeat(64),
      },
      { instance_id: "fleet-3", hostname: FOREIGN },
    ])
      await server.request("POST", "/client-status", { token, body: reportWith(members) });
  },
  scenes: [
    { title: "Workstations", open: "/console/clients" },
    {
      title: "Workstations",
      state: "with all filters",
      open: "/console/clients?filters=all&health=outdated",
    },
    { title: "Workstations", state: "with filters that match nothing", open: "/console/clients?q=nothing" },
    {
      title: "Workstations",
      state: "with impossible filters",
      open: "/console/clients?user=x&page=x&revision=r99",
    },
    { title: "Workstations", state: "for an auditor", as: "auditor", open: "/console/clients" },
    { title: "lab-14", open: openClient("lab-14") },
    { title: "lab-15", state: "with problems", open: openClient("lab-15") },
    { title: FOREIGN, state: "with a name from right to left", open: openClient("fleet-3") },
    {
      title: "Revoke lab-14?",
      open: (page, site) => page.goto(`/console/clients/action?act=revoke&id=${idOf(site, "lab-14")}`),
    },
    { title: "Remove 2 workstations?", state: "for many", open: openTwo("remove") },
    {
      title: "Nothing to do",
      state: "for workstations that are gone",
      open: openAction("act=remove&id=1&id=2"),
    },
    {
      title: "Remove 4 workstations?",
      state: "for a filter",
      open: openAction(`act=remove&all=1&filter=${encodeURIComponent("?user=fleet@example.com")}`),
    },
    { title: "Nothing to do", state: "without a selection", open: openAction("act=remove") },
    {
      title: "0 workstations revoked",
      state: "with refused ones",
      open: async (page, site) => {
        await openTwo("revoke")(page, site);
        const ids = page.locator("input[name=ids]");
        await ids.evaluate((field: HTMLInputElement) => (field.value = "1,2")); // as if both were gone meanwhile
        await page.getByRole("button", { name: "Revoke", exact: true }).click();
        await page.waitForSelector("table");
      },
    },
  ],
};
