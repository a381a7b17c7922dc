// The list of users in the console, over the real domain with gateway mode on.
import { afterAll, describe, expect, test } from "bun:test";
import { CORE_GROUP, CORE_USER } from "../../../src/domain/scim/wire.ts";
import { DAY_MS } from "../../../src/platform/clock.ts";
import { reportWith } from "../../domain/clients/policies.ts";
import { createGatewayServer } from "../../support/gateway/gateway-server.ts";
import { SCIM_TOKEN } from "../../support/server.ts";

const site = await createGatewayServer();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "=admin@example.com" });
const ana = await site.signedIn("member", { email: "ana@example.com" });
await site.signedIn("member", { email: "bob@example.com" });
const { organizationId } = site.world;

const reportFrom = (instance: string) =>
  site.request("POST", "/client-status", {
    token: ana.accessToken,
    body: reportWith({ instance_id: instance }),
  });
await reportFrom("one");
await reportFrom("two");

const provision = async (path: string, body: object) =>
  (
    await site.request("POST", `/scim/v2/${path}`, {
      token: SCIM_TOKEN,
      body: JSON.stringify(body),
      headers: { "content-type": "application/scim+json" },
    })
  ).json();
const HOSTILE = "<script>alert(1)</script>\u202e\u0301";
const { id: member } = await provision("Users", { schemas: [CORE_USER], userName: "cleo@example.com" });
await provision("Groups", { schemas: [CORE_GROUP], displayName: HOSTILE, members: [{ value: member }] });

const read = async (query: string, cookie = admin.cookie) => {
  const answer = await site.request("GET", `/console/users${query}`, { cookie });
  return { status: answer.status, headers: answer.headers, html: await answer.text() };
};
const rowsIn = (html: string): string[] =>
  [...html.matchAll(/<tr>(<td.*?)<\/tr>/gs)].map(([, row = ""]) =>
    [...row.matchAll(/<td[^>]*>(?!<input)(.*?)<\/td>/gs)]
      .map(([, cell = ""]) => cell.replaceAll(/<[^>]+>/g, ""))
      .join(" | "),
  );
const addressesIn = (html: string): string[] => rowsIn(html).map((row) => row.split(" | ")[0] ?? "");

describe("CON-70 the list of users", () => {
  test("shows role, status, source, last report, workstations and key of each user", async () => {
    const { status, html } = await read("");
    const rows = rowsIn(html);
    expect(status).toBe(200);
    expect(rows[0]).toBe("=admin@example.com | Administrator | Active | Local | never | 0 | None");
    expect(rows[1]).toMatch(/^ana@example.com \| Member \| Active \| Local \| just now \(.*\) \| 2 \| None$/);
    expect(rows[3]).toBe("cleo@example.com | Member | Active | Identity provider | never | 0 | None");
  });

  test.each([
    ["?q=ANA", ["ana@example.com"]],
    ["?role=admin", ["=admin@example.com"]],
    ["?provisioning_source=scim", ["cleo@example.com"]],
    ["?workstations=none&role=member", ["bob@example.com", "cleo@example.com"]],
    ["?not_seen=7&role=member", ["bob@example.com", "cleo@example.com"]],
    [`?group=${encodeURIComponent(HOSTILE)}`, ["cleo@example.com"]],
    ["?status=suspended", []],
  ])("finds %p", async (query, expected) => {
    const { status, html } = await read(query);
    expect([status, addressesIn(html)]).toEqual([200, expected]);
    if (expected.length === 0) expect(html).toContain("No users match these filters.");
  });

  test("counts a user as not seen when the last report is old enough", async () => {
    site.world.clock.advance(8 * DAY_MS);
    const { html } = await read("?not_seen=7&q=ana", (await site.signInAgain(admin.user)).cookie);
    site.world.clock.advance(-8 * DAY_MS);
    expect(addressesIn(html)).toEqual(["ana@example.com"]);
  });

  test("CON-22 names every invalid value, with 400 and no rows", async () => {
    const { status, html } = await read(
      "?role=x&not_seen=3&workstations=many&group=nobody&per_page=0&page=x",
    );
    expect([status, rowsIn(html)]).toEqual([400, []]);
    for (const name of ["role", "not_seen", "workstations", "group"])
      expect(html).toContain(`id="filter-${name}-error"`);
  });

  test("CON-22 redirects from a page after the end to the last page", async () => {
    const { status, headers } = await read("?page=7&q=example");
    expect([status, headers.get("location")]).toEqual([303, "/console/users?q=example"]);
    const counted = await read("?page=7&known=999&q=example");
    expect(counted.headers.get("location")).toBe("/console/users?page=7&q=example");
  });

  test("CON-117 shows hostile texts of the address as text", async () => {
    const { status, html } = await read(`?q=${encodeURIComponent(HOSTILE)}`);
    expect([status, html.includes("<script>alert"), html.includes("&lt;script>")]).toEqual([
      200,
      false,
      true,
    ]);
  });

  test("CON-17 shows the command with the filters, quoted for a shell", async () => {
    expect((await read("?role=admin&q=a%27b")).html).toContain(
      "quartermaster users list --q &#39;a&#39;\\&#39;&#39;b&#39; --role admin".replaceAll("&#39;", "'"),
    );
    expect((await read("?workstations=none&not_seen=30&group=x%20y")).html).not.toContain("users list");
    expect((await read("?workstations=none&not_seen=30")).html).toContain(
      "quartermaster users list --workstations none --not-seen-for-days 30",
    );
  });

  test("CON-24 downloads of other lists have their filters, and are recorded", async () => {
    await site.domain.identity.invitations.create(site.world.system, {
      email: "new@example.com",
      role: "member",
    });
    const file = async (path: string) => {
      const { cookie } = await site.signInAgain(admin.user);
      const answer = await site.request("GET", `/console/${path}`, { cookie });
      const text = await answer.text();
      const [entry] = site.domain.auditLog.list(organizationId, { action: "list.export" }).items;
      const location = answer.headers.get("location");
      return { status: answer.status, location, lines: text.trimEnd().split("\r\n"), entry };
    };
    const invitations = await file("invitations.csv?q=new");
    expect(invitations.lines[0]).toBe("email,role,status,expires_at,inviter");
    expect(invitations.lines[1]).toMatch(/^new@example\.com,member,pending,\d{4}-.*Z,/);
    expect([invitations.lines.length, invitations.entry?.target]).toEqual([2, "invitations"]);
    expect(JSON.parse(invitations.entry?.after ?? "")).toEqual({ filter: "q=new", rows: 1 });
    const groups = await file("groups.csv");
    expect([groups.lines[0], groups.lines[1]?.includes(",,1,member,")]).toEqual([
      "name,external_id,members,role,changed",
      true,
    ]);
    const logins = await file("logins.csv?user_id=ana@example.com&kind=grant");
    expect(logins.lines[0]).toBe("user,login,state,address,since,used");
    expect(logins.lines[1]).toMatch(/^ana@example\.com,grant,active,/);
    expect(logins.entry?.target).toBe("logins");
    const keys = await file("gateway/keys.csv");
    expect(keys.lines).toEqual(["user,state,alias,expires,reconciled,next_attempt,failures,problem"]);
    expect((await file("logins.csv?user_id=x")).status).toBe(400);
    for (const path of ["logins.csv?kind=x", "invitations.csv?role=x", "gateway/keys.csv?state=x"]) {
      const { status, location } = await file(path);
      expect([status, location]).toEqual([303, `/console/${path.replace(".csv", "")}`]);
    }
  });

  test("CON-24 downloads the users that match, and records it", async () => {
    const { headers, html } = await read(".csv?status=active");
    const [head, first, ...others] = html.trimEnd().split("\r\n");
    expect(headers.get("content-disposition")).toBe('attachment; filename="users.csv"');
    expect(head).toBe("email,role,status,source,last_seen_at,workstations,key");
    expect(first).toBe("'=admin@example.com,admin,active,local,,0,missing");
    expect(others).toHaveLength(3);
    const [entry] = site.domain.auditLog.list(organizationId, { action: "list.export" }).items;
    expect(JSON.parse(entry?.after ?? "")).toEqual({ filter: "status=active", rows: 4 });
    const refused = await read(".csv?role=x");
    expect([refused.status, refused.headers.get("location")]).toEqual([303, "/console/users?role=x"]);
  });
});
