// Common features of the console's lists: columns, labels of cards, and the short form of a long page.
import { afterAll, describe, expect, test } from "bun:test";
import { COMPACTED_LENGTH_MIN, compactHtml } from "../../../src/server/console/frame/compact-html.ts";
import { LABELS_LENGTH_MAX, LABELS_MAX, LABELS_PATH } from "../../../src/server/console/list/labels.ts";
import { chosenColumns } from "../../../src/server/console/list/list-view.tsx";
import { createTestServer } from "../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());

describe("CON-20 the parameter `columns`", () => {
  const columns = ["host", "user", "state"].map((name) => ({ name, label: name, cell: () => name }));
  const shown = (text: string | undefined) =>
    chosenColumns(columns, text === undefined ? {} : { columns: text }).map(({ name }) => name);

  test.each([
    [undefined, ["host", "user", "state"]],
    ["host,state", ["host", "state"]],
    ["-host", ["user", "state"]],
    ["-host,-user", ["state"]],
    ["-host,-user,-state", ["host", "user", "state"]],
    ["-host,user", ["user"]],
    ["nonsense", ["host", "user", "state"]],
  ])("%p shows %p", (text, names) => {
    expect(shown(text)).toEqual(names);
  });
});

test("the total names one row in the singular, and any other number in the plural", async () => {
  const { cookie } = await site.signedIn("admin");
  const total = async (path: string) => {
    const html = await (await site.request("GET", path, { cookie })).text();
    const [, shown = ""] = /class="?total"?>(.*?)<\/p>/s.exec(html) ?? [];
    return shown.replaceAll(/<[^>]+>/g, "").trim();
  };
  expect(await total("/console/groups")).toBe("0 groups");
  expect(await total("/console/users")).toBe("1 user");
  await site.signedIn("member");
  expect(await total("/console/users")).toBe("2 users");
});

describe("CON-23 the labels of cards", () => {
  const sheet = async (columns: string) => {
    const answer = await site.request("GET", `${LABELS_PATH}?${new URLSearchParams({ columns })}`);
    return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
  };

  test("writes the labels as a style sheet by position, without a rule for an empty label", async () => {
    const { status, type, text } = await sheet(",Host,Last seen");
    expect([status, type]).toEqual([200, "text/css; charset=utf-8"]);
    expect(text).toBe(
      '#list .rows td:nth-child(2)::before{content:"Host: "}\n#list .rows td:nth-child(3)::before{content:"Last seen: "}\n',
    );
  });

  test("accept labels and characters up to their limits", async () => {
    const labels = (count: number) => Array.from({ length: count }, () => "a").join(",");
    for (const columns of [labels(LABELS_MAX - 1), labels(LABELS_MAX), "a".repeat(LABELS_LENGTH_MAX - 1)])
      expect((await sheet(columns)).status).toBe(200);
    expect((await sheet("a".repeat(LABELS_LENGTH_MAX))).status).toBe(200);
    for (const columns of [labels(LABELS_MAX + 1), "a".repeat(LABELS_LENGTH_MAX + 1)])
      expect((await sheet(columns)).status).toBe(400);
  });

  test.each(['x"}body{color:red', "a\\", "a\nb", "<b>", "\u202e", "a;b", "{}", "\0"])(
    "cannot leave their quotes: %p",
    async (columns) => {
      expect((await sheet(columns)).status).toBe(400);
    },
  );
});

describe("CON-133 a long page", () => {
  const row = `<tr><td class="number"><input name="id" value="1"/><td title="a b"><a href="/console/x?a=1&amp;b=2" data-dialog="">x =&quot;&quot; y</a></td></tr>`;
  const of = (start: string) => start.padEnd(COMPACTED_LENGTH_MIN, " ");

  test("loses only end tags and quotes that HTML does not need", () => {
    const almost = row.padEnd(COMPACTED_LENGTH_MIN - 1, " ");
    expect(compactHtml(almost, "/console/y")).toBe(almost);
    for (const long of [of(row), `${of(row)} `])
      expect(compactHtml(long, "/console/y").trimEnd()).toBe(
        `<tr><td class=number><input name=id value=1><td title="a b"><a href="/console/x?a=1&amp;b=2" data-dialog>x =&quot;&quot; y</a>`,
      );
  });

  test("links from a list begin at the folder of its page and lead to the same pages", () => {
    const links = [
      "/console/users/1",
      "/console/users?a=1&amp;b=/console/users",
      "/console/me/views",
      "/console",
      "/console/",
      "/console/a:b",
      "/assets/x",
      "#main",
      "https://example.com/console/users",
    ];
    const list = `<div id="list">${links.map((href) => `<a href="${href}">/console/users</a>`).join("")}</div>`;
    const targetsIn = (html: string) => [...html.matchAll(/ href="?([^"> ]*)/g)].map(([, href]) => href);
    const folder = (path: string) => targetsIn(compactHtml(of(list), path));
    expect(folder("/console/users")).toEqual([
      "users/1",
      "users?a=1&amp;b=/console/users",
      "me/views",
      ...links.slice(3),
    ]);
    expect(folder("/console/users/1")).toEqual(["1", ...links.slice(1)]);
    const elsewhere = compactHtml(of(list.replace("list", "other")), "/console/users");
    expect(targetsIn(elsewhere)).toEqual(links);
  });
});
