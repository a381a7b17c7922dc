// Rules for every page of the console, with many rows in every list: the number of read rows, landmarks, words, and the
// text when something is missing.
import { afterAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PER_PAGE_MAX } from "../../../../src/domain/shared/page.ts";
import { openConnection } from "../../../../src/platform/database/connection.ts";
import { publishOn } from "../../../domain/clients/clients-world.ts";
import { addManyRows } from "../../../support/content/many-rows.ts";
import { createTestServer } from "../../../support/server.ts";

const ROWS = 3 * PER_PAGE_MAX;

/** Rows that the current request got from each function of the domain. */
const rowsBy = new Map<string, number>();

function note(name: string, result: unknown): void {
  const rows = Array.isArray(result) ? result : isObject(result) && "items" in result ? result.items : [];
  if (Array.isArray(rows)) rowsBy.set(name, (rowsBy.get(name) ?? 0) + rows.length);
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
const isGenerator = (value: unknown): value is Generator<unknown, unknown> =>
  isObject(value) && "next" in value && Symbol.iterator in value;

function* counted(name: string, steps: Generator<unknown, unknown>): Generator<unknown, unknown> {
  const result = yield* steps;
  note(name, result);
  return result;
}

/** @returns the same object, which counts the rows that callers get from its functions and those of its parts */
function watched<T extends object>(target: T, path = "domain"): T {
  return new Proxy(target, {
    get(object, key) {
      const value: unknown = Reflect.get(object, key);
      const name = `${path}.${String(key)}`;
      if (typeof value === "function")
        return (...args: unknown[]) => {
          const result: unknown = Reflect.apply(value, object, args);
          if (isGenerator(result)) return counted(name, result);
          if (result instanceof Promise)
            void result.then(
              (settled) => note(name, settled),
              () => undefined,
            );
          else note(name, result);
          return result;
        };
      return isObject(value) && !(value instanceof Map) ? watched(value, name) : value;
    },
  });
}

const site = await createTestServer({ watch: watched });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "admin@example.com" });
const { world, domain } = site;
{
  using connection = openConnection(world.file, {});
  addManyRows(connection, { count: ROWS, nowMs: world.clock.nowMs() });
}
await world.db.write((tx) => {
  for (let at = 0; at < ROWS; at++) {
    world.audit.record(tx, { actor: world.system, action: "job.run", target: `job-${at}` });
    domain.access.sessions.open(tx, admin.user.id, { address: null, userAgent: null });
  }
}, "access");

/** A stream of events is no page, and does not end. */
const pages = (await site.server.allRoutes()).flatMap(({ method, path }) =>
  method === "GET" && /^\/console(?!.*(?::|\.csv$|\/events$))/.test(path) ? path : [],
);

interface Shown {
  path: string;
  status: number;
  html: string;
  /** rows by the function of the domain that gave them */
  rows: ReadonlyMap<string, number>;
}

const open = async (path: string): Promise<Shown & { headers: Headers }> => {
  rowsBy.clear();
  const answer = await site.request("GET", path, { cookie: admin.cookie });
  const html = await answer.text();
  return { path, status: answer.status, headers: answer.headers, html, rows: new Map(rowsBy) };
};
const shown: Shown[] = [];
for (const path of pages) shown.push(await open(path));
const html = shown.filter(({ html }) => html.startsWith("<!doctype html>"));

test("CON-156 pages read at most one page of a list", () => {
  const tooMany = shown.flatMap(({ path, rows }) =>
    [...rows].flatMap(([name, count]) => (count > PER_PAGE_MAX ? `${path}: ${count} rows of ${name}` : [])),
  );
  expect(tooMany).toEqual([]);
  const read = shown.flatMap(({ rows }) => [...rows].flatMap(([name, count]) => (count > 0 ? name : [])));
  for (const name of ["clients.inventory.summaries", "identity.users.listInSteps", "auditLog.listByKey"])
    expect(read).toContain(`domain.${name}`);
});

test("CON-14 every page has its landmarks once, one heading of the first level, and the skip link first", () => {
  expect(html.length).toBeGreaterThan(15);
  for (const { path, html: text } of html) {
    const count = (part: RegExp) => text.match(part)?.length ?? 0;
    const landmarks = [/<header /g, /<nav class="?console-nav/g, /<main /g, /<h1[ >]/g].map(count);
    expect([path, landmarks]).toEqual([path, [1, 1, 1, 1]]);
    expect([path, /<body[^>]*><a class="?skip/.test(text)]).toEqual([path, true]);
    expect([path, count(/aria-current="?page/g) <= 1]).toEqual([path, true]);
  }
});

test("CON-2 every list shows the equivalent command and request", () => {
  const lists = html.filter(({ html: text }) => / id="?list"?[ >]/.test(text));
  expect(lists.length).toBeGreaterThan(4);
  expect(
    lists.flatMap(({ path, html: text }) => (/<details class="?as-command/.test(text) ? [] : path)),
  ).toEqual([]);
});

test("CON-26 lists have 25, 50 or 100 rows, and links to the first, the next and the last page", async () => {
  for (const size of [25, 50, 100]) {
    const { html: text } = await open(`/console/users?per_page=${size}&page=2`);
    expect(text.match(/<tr><td/g)).toHaveLength(size);
    for (const link of ["First", "Previous", "Next", "Last"]) expect(text).toContain(`>${link}</a>`);
  }
});

test("CON-122 the page names the missing object, with the id of the request", async () => {
  for (const path of ["/console/users/x", "/console/clients/x", "/console/audit/0", "/console/groups/x"]) {
    const { status, html: text } = await open(path);
    expect([path, status]).toEqual([path, 404]);
    const words = text.slice(text.indexOf("<main")).replaceAll(/<code>.*?<\/code>|<[^>]+>/g, " ");
    expect(words).not.toMatch(/\b[45]\d\d\b|[{}]|went wrong/);
    expect(text).toMatch(/Request <code>[\da-f-]{36}<\/code>/);
  }
});

test("CON-142 the confirmation of a severe action has no script, and a policy that allows none", async () => {
  const { headers, html: text } = await open("/console/logins/end-all");
  expect(headers.get("content-security-policy")).not.toContain("script-src");
  expect(text).not.toContain("<script");
});

test("CON-16 revisions are named by their numbers, and their ids are copied from the header", async () => {
  const id = await publishOn(site);
  const { html: text } = await open("/console");
  expect(text).toContain(`r1 <button class="copy" type="button" data-copy="${id}"`);
});

test("CON-115 every page that follows events has a region that they update", async () => {
  let followed = 0;
  for (const path of pages) {
    const { html } = await open(path);
    if (!html.includes(" data-live=")) continue;
    followed += 1;
    expect([path, / data-region[=>\s]/.test(html)]).toEqual([path, true]);
  }
  expect(followed).toBeGreaterThan(2);
});

const FIXTURES = join(import.meta.dir, "../../fixtures");

/** Compares with a file, or writes it where QUARTERMASTER_UPDATE_GOLDEN is set. */
function expectGolden(name: string, text: string): void {
  const file = join(FIXTURES, name);
  if (process.env.QUARTERMASTER_UPDATE_GOLDEN) writeFileSync(file, text);
  expect(text).toBe(readFileSync(file, "utf8"));
}

test("CON-11 addresses of released pages do not change", async () => {
  const file = join(FIXTURES, "console-pages.txt");
  const paths = (await site.server.allRoutes()).flatMap(({ method, path }) =>
    method === "GET" && path.startsWith("/console") ? path : [],
  );
  const released = readFileSync(file, "utf8").trim().split("\n");
  if (process.env.QUARTERMASTER_UPDATE_GOLDEN)
    writeFileSync(file, `${[...new Set([...released, ...paths])].sort().join("\n")}\n`);
  expect(released.filter((path) => !paths.includes(path))).toEqual([]);
});

test("CON-154 the HTML of the frame and of a list equals the reviewed file", async () => {
  const { html: text } = await open("/console/users?q=user-0079&filters=all&status=active");
  const steady = text
    .replace(/(?<=<nav class="console-nav".*?<summary>Menu<\/summary>).*?(?=<\/details><\/nav>)/s, "…")
    .replace(/<a class="health".*?<\/a>/, "")
    .replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g, "ID")
    .replaceAll(/[\da-f]{128}|[\w-]{22}\.[\w-]{43}/g, "TOKEN")
    .replaceAll(/\/assets\/(console\/\w+-|)\w{8,12}(?=[-.])/g, "/assets/$1HASH");
  expectGolden("console-list.html", `${steady.replaceAll("><", ">\n<")}\n`);
});
