// CON-22 and CON-25: the page of a list and a saved view of it refuse the same addresses, and say why.
import { afterAll, describe, expect, test } from "bun:test";
import { ADDRESS_PROBLEMS_MAX } from "../../../../src/domain/console/list-parameters.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { runOn } from "../../../support/cli/shown-commands.ts";
import { createGatewayServer } from "../../../support/gateway/gateway-server.ts";

const site = await createGatewayServer();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);

const LISTS = [
  ...["users", "invitations", "groups", "logins", "identity/tokens", "clients", "packages", "catalog", "mcp"],
  ...["policy/history", "gateway/keys", "gateway/models", "gateway/requests", "audit", "sessions"],
  ...["me/workstations", "me/logins"],
].map((name) => `/console/${name}`);
/** Lists without a file. */
const WITHOUT_FILE = ["/console/identity/tokens", "/console/me/workstations", "/console/me/logins"];
/** Values that name something else; only the page knows whether it exists. */
const NAMES = new Set(["user", "user_id", "group", "revision", "harness"]);
const NONSENSE = ["nonsense", "-1", "2027-02-30", "%00", "x".repeat(600), "1e3", "[]"];

const save = async (path: string, query: string) => {
  const body = { name: "one", path, query, shared: false };
  const response = await site.request("POST", "/me/console/views", { token: admin.accessToken, body });
  return { status: response.status, errors: (await response.json()).errors };
};

/** @returns the filters of a list with their values to choose from */
async function controlsOf(path: string): Promise<{ name: string; choices: string[] }[]> {
  const { html } = await browser.visit(`${path}?filters=all`);
  return [...html.matchAll(/<(select|input) id="filter-(\w+)"(?:.*?<\/select>|)/gs)].map(
    ([control, kind, name = ""]) => ({
      name,
      choices:
        kind === "select"
          ? [...control.matchAll(/<option value="([^"]+)"/g)].map(([, value = ""]) => value)
          : [],
    }),
  );
}

describe.each(LISTS)("%s", (path) => {
  test("accepts every value of its filters, in its address and in a saved view", async () => {
    for (const { name, choices } of await controlsOf(path)) {
      for (const choice of choices) {
        const query = `${name}=${choice}`;
        expect([query, (await browser.visit(`${path}?${query}`)).status]).toEqual([query, 200]);
        expect([query, (await save(path, query)).status]).toEqual([query, 200]);
      }
    }
  });

  test("refuses the same nonsense in its address and in a saved view", async () => {
    const names = (await controlsOf(path)).map(({ name }) => name);
    for (const name of [...names, "sort", "columns", "per_page", "filters"]) {
      const values = [...NONSENSE, "7", "2027-06-30", "7d", "id"];
      for (const query of values.map((value) => `${name}=${value}`)) {
        const { status, html } = await browser.visit(`${path}?${query}`);
        const saved = await save(path, query);
        if (NAMES.has(name)) expect([query, status]).toEqual([query, saved.status === 400 ? 400 : status]);
        else expect([query, saved.status]).toEqual([query, status]);
        if (status === 400) expect(html.slice(html.indexOf('id="list"'))).not.toContain("<tbody>");
      }
    }
  });

  test("refuses unknown parameters and second values, which would be ignored", async () => {
    const refused = ["stat%3Cb%3E=a", "utm_source=mail", "nothing=", "per_page=25&per_page=50"];
    const [
      {
        name,
        choices: [choice = ""],
      } = { name: "", choices: [] },
    ] = (await controlsOf(path)).filter(({ choices }) => choices.length > 0);
    if (name !== "") refused.push(`${name}=${choice}&${name}=${choice}`);
    for (const query of refused) {
      const { status, html } = await browser.visit(`${path}?${query}`);
      expect([query, status]).toEqual([query, 400]);
      expect(html).toContain("These filters cannot be used");
      expect((await save(path, query)).status).toBe(400);
      if (!WITHOUT_FILE.includes(path)) {
        const file = await browser.visit(`${path}.csv?${query}`);
        expect([query, file.status]).toEqual([query, 400]);
      }
    }
    const { html } = await browser.visit(`${path}?stat%3Cb%3E=a&page=1`);
    expect(html).toContain("The list has no filter “stat&lt;b>”. Show it without that filter");
  });

  test("refuses nonsense in its position", async () => {
    for (const query of ["page=x", "cursor=x", "select=x", "known=1&known=2", "page=1&page=2"])
      expect([query, (await browser.visit(`${path}?${query}`)).status]).toEqual([query, 400]);
  });
});

describe("CON-22 problems of an address", () => {
  test("name the filter with a second value, and the field has the first one", async () => {
    const { html } = await browser.visit("/console/users?status=active&status=removed");
    expect(html).toContain('<a href="#filter-status">Status: choose only one value.</a>');
    expect(html).toContain('<option value="active" selected>');
  });

  test.each([-1, 0, 1])("stop at ADDRESS_PROBLEMS_MAX, with %i more in the address", async (more) => {
    const wrong = Array.from({ length: ADDRESS_PROBLEMS_MAX + more }, (_, at) => `x${at}=1`).join("&");
    const { html } = await browser.visit(`/console/users?${wrong}`);
    expect(html.match(/The list has no filter/g)).toHaveLength(
      Math.min(ADDRESS_PROBLEMS_MAX + more, ADDRESS_PROBLEMS_MAX),
    );
  });

  test("refuse a period that ends before it begins, in a saved view too", async () => {
    const query = "last_seen_from=2027-02-01&last_seen_to=2027-01-01";
    expect((await browser.visit(`/console/clients?${query}`)).status).toBe(400);
    expect(await save("/console/clients", query)).toEqual({
      status: 400,
      errors: [{ pointer: "/query", detail: "last_seen_to must not be before last_seen_from" }],
    });
  });

  test("stop the command that saves a view", async () => {
    for (const query of ["status=gone", "rol=admin", "role=admin&role=member"]) {
      const { exitCode, stderr } = await runOn(site, [
        ...["views", "create", admin.user.email, "one", `/console/users?${query}`],
      ]);
      expect([query, exitCode === 0]).toEqual([query, false]);
      expect(stderr).toMatch(/status must be|no filter|only once/);
    }
  });
});

test("CON-25 saving a list keeps its columns if the query has only filters", async () => {
  const keep = (query: string) =>
    site.request("POST", "/me/console/lists", {
      token: admin.accessToken,
      body: { path: "/console/users", query },
    });
  expect((await keep("columns=-role&role=admin")).status).toBe(200);
  const { lists } = await (await keep("per_page=50&columns=-role")).json();
  const refused = await keep("role=admin");
  expect([refused.status, (await refused.json()).errors]).toEqual([
    400,
    [
      {
        pointer: "/query",
        detail: "the query must have columns or per_page, or be empty to restore the defaults",
      },
    ],
  ]);
  expect(site.domain.preferences.of(admin.user.id).lists).toEqual(lists);
  expect((await (await keep("")).json()).lists).toEqual([]);
});
