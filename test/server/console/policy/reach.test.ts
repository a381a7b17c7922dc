// CON-58 and CON-61: the export of the people that a draft affects, and the export of the history.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { packageWith } from "../../../domain/clients/policies.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { createTestServer } from "../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const ben = await site.signedIn("member", { email: "ben@example.com" });
await site.signedIn("member", { email: "cleo@example.com" });
const browser = consoleBrowser(site, admin);
const { governance } = site.domain;
const file = async (query: Record<string, string>) => {
  const answer = await browser.request(`/console/policy/review/people.csv?${new URLSearchParams(query)}`);
  const [, ...rows] = (await answer.text()).trimEnd().split("\r\n");
  return { status: answer.status, addresses: rows.map((row) => row.split(",")[0]) };
};
let draft = "";

beforeAll(async () => {
  await governance.deployments.apply(site.world.system, undefined);
  const packages = ["everybody", "some"].map((id) => packageWith({ id }));
  const packageAudiences = { some: { scope: "users" as const, user_ids: [ben.user.id] } };
  const saved = await governance.drafts.saveExtensions(
    admin.actor,
    { version: 0 },
    { packages, packageAudiences },
  );
  draft = saved.id;
});

test("CON-58 everybody who gains a package is in the file, whether the audience names them or not", async () => {
  expect(await file({ draft, package: "some", change: "gaining" })).toEqual({
    status: 200,
    addresses: ["ben@example.com"],
  });
  const { addresses } = await file({ draft, package: "everybody", change: "gaining" });
  for (const email of ["ana@example.com", "ben@example.com", "cleo@example.com"])
    expect(addresses).toContain(email);
  expect((await file({ draft, package: "everybody", change: "losing" })).addresses).toEqual([]);
  expect((await browser.visit("/console/policy/review")).html).toContain(
    `people.csv?draft=${draft}&amp;package=everybody&amp;change=gaining`,
  );
});

test("CON-22 an invalid query is refused", async () => {
  expect((await file({ draft, package: "some", change: "odd" })).status).toBe(400);
  const incomplete = await browser.visit("/console/policy/review/people.csv");
  expect(incomplete.status).toBe(400);
  for (const name of ["draft", "package"])
    expect(incomplete.html).toContain(`he parameter ${name} is required`);
  expect((await file({ draft: "none", package: "some" })).status).toBe(404);
});

test.each(["page=x", "per_page=7", "sort=zz"])(
  "CON-22 the history refuses %s, which it would ignore",
  async (query) => {
    const { html, status } = await browser.visit(`/console/policy/history?${query}`);
    expect([
      status,
      /The (history has a fixed|list has no such) /.test(html),
      html.includes(">r1</a>"),
    ]).toEqual([...[400, true, false]]);
  },
);

test("CON-61 the history is a file with what each revision changed", async () => {
  const answer = await browser.request("/console/policy/history.csv");
  const [header, first, end] = (await answer.text()).split("\r\n");
  expect(header).toBe("number,published,by,origin,summary,comment,workstations");
  expect(first).toContain("bootstrap,first policy,");
  expect(end).toBe("");
  expect((await browser.visit("/console/policy/history")).html).toContain("first policy");
});
