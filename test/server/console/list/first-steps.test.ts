// CON-28: an empty list explains how to fill it, with the first step and its command.
import { afterAll, describe, expect, test } from "bun:test";
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import type { ConsolePage } from "../../../../src/server/console/frame/frame.tsx";
import { ownLoginsPage } from "../../../../src/server/console/own/own-logins.tsx";
import { ReaderContext } from "../../../../src/server/console/parts/values.tsx";
import { loginListPage } from "../../../../src/server/console/people/login-pages.tsx";
import { userListPage } from "../../../../src/server/console/people/user-list.tsx";
import { auditListPage } from "../../../../src/server/console/system/audit-list.tsx";
import { backupsPage } from "../../../../src/server/console/system/backups.tsx";
import { jobsPage } from "../../../../src/server/console/system/jobs.tsx";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { readerOf } from "../../../support/browser/console-reader.ts";
import { runCli } from "../../../support/cli/cli.ts";
import { createGatewayServer } from "../../../support/gateway/gateway-server.ts";

const site = await createGatewayServer({ scimToken: undefined });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin");
const browser = consoleBrowser(site, admin);

/** Expects that the part for no rows names a command that exists. */
async function expectFirstStep(name: string, html: string): Promise<void> {
  const [, empty = ""] = /<div class="empty">(.*?)<\/div>/s.exec(html) ?? [];
  const [, command = ""] = /quartermaster ([^<]*)/.exec(empty) ?? [];
  expect([name, command]).toEqual([name, expect.stringMatching(/^[a-z]/)]);
  const words = command.split(" ").filter((word) => /^[a-z-]+$/.test(word));
  const { stdout } = await runCli([...words, "--help"]);
  // The help of a group, which an unknown command prints, has `[command]`.
  const [, usage = ""] = /^Usage: quartermaster (.*)/m.exec(stdout) ?? [];
  expect([usage.includes("[command]"), usage.split(" ")[0]]).toEqual([false, words[0] ?? ""]);
}

describe("CON-28 the empty list", () => {
  test.each([
    "/console/clients",
    "/console/invitations",
    "/console/groups",
    "/console/gateway/keys",
    "/console/gateway/requests",
    "/console/gateway/models",
    "/console/identity",
    "/console/identity/tokens",
    "/console/packages",
    "/console/connections",
    "/console/catalog",
    "/console/mcp",
    "/console/policy",
    "/console/policy/history",
    "/console/sessions",
    "/console/system/export",
    "/console/me/workstations",
  ])("%s names a command that exists", async (path) => {
    const { status, html } = await browser.visit(path);
    expect(status).toBe(200);
    await expectFirstStep(path, html);
  });

  test("names a command that exists in an empty list of a group's members", async () => {
    const { organizationId } = site.world;
    const actor = { kind: "scim", id: null, label: "scim:test", organizationId } as const;
    const group = { displayName: "Engineers", members: [] };
    const { id } = await site.domain.scim.groups.create({ actor, profile: "standard" }, group, {});
    await expectFirstStep("members", (await browser.visit(`/console/groups/${id}`)).html);
  });

  const NONE = { values: {}, page: undefined };
  const CHAIN = { last: undefined, isRunning: false };
  const pages: readonly [string, ConsolePage][] = [
    ["logins", loginListPage({ ...NONE, userId: undefined, mayAdminister: true })],
    ["own logins", ownLoginsPage({ ...NONE, email: "ana@example.com" })],
    [
      "audit entries",
      auditListPage({ ...NONE, times: { since: undefined, until: undefined }, chain: CHAIN }),
    ],
    ["users", userListPage({ ...NONE, mayAdminister: true, hasGateway: false })],
    ["jobs", jobsPage([])],
    ["backups", backupsPage({ items: [], folder: "/backups", failure: null, making: false }, "once")],
  ];
  test.each(pages)(
    "names a command in an empty list of %s, which the pages of a server never show",
    async (name, { content }) => {
      const value = readerOf("https://control.example.com/console", "");
      await expectFirstStep(name, renderToString(h(ReaderContext.Provider, { value }, content)));
    },
  );
});
