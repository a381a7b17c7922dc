// CON-28: an empty list says what would fill it, with the first step and its command.
import { afterAll, expect, test } from "bun:test";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { runCli } from "../../../support/cli/cli.ts";
import { createGatewayServer } from "../../../support/gateway/gateway-server.ts";

const site = await createGatewayServer({ scimToken: undefined });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin");
const browser = consoleBrowser(site, admin);

test.each([
  "/console/clients",
  "/console/invitations",
  "/console/groups",
  "/console/identity/tokens",
  "/console/gateway/requests",
  "/console/gateway/models",
  "/console/packages",
  "/console/catalog",
  "/console/mcp",
  "/console/policy/history",
])("CON-28 the empty list %s names a command that exists", async (path) => {
  const { status, html } = await browser.visit(path);
  const [, empty = ""] = /<div class="empty">(.*?)<\/div>/s.exec(html) ?? [];
  const [, command = ""] = /quartermaster ([^<]*)/.exec(empty) ?? [];
  expect([path, status, command]).toEqual([path, 200, expect.stringMatching(/^[a-z]/)]);
  const words = command.split(" ").filter((word) => /^[a-z-]+$/.test(word));
  const { stdout } = await runCli([...words, "--help"]);
  // The help of a group, which an unknown command prints, has `[command]`.
  const [, usage = ""] = /^Usage: quartermaster (.*)/m.exec(stdout) ?? [];
  expect([usage.includes("[command]"), usage.split(" ")[0]]).toEqual([false, words[0] ?? ""]);
});
