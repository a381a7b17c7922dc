// How the console formats values: times in a zone, numbers, sizes, percentages, ids, texts from outside, commands, addresses and
// days.
import { describe, expect, test } from "bun:test";
import { addressWith, fromStart, valuesOf } from "../../../src/server/console/list/address.ts";
import { dayIn } from "../../../src/server/console/list/days.ts";
import { commandLine, options } from "../../../src/server/console/parts/command.tsx";
import {
  exactTime,
  percentText,
  relativeTime,
  shortened,
  sizeText,
  visibleHtml,
  visibleJson,
  visibleText,
} from "../../../src/server/console/parts/texts.ts";
import { languageOf, timeZoneOf } from "../../../src/server/console/reader.ts";

const NOW = Date.parse("2027-06-30T12:00:00Z");

describe("CON-114 times", () => {
  test("name the zone in which they are shown", () => {
    expect(exactTime(NOW, "UTC")).toBe("Jun 30, 2027, 12:00 UTC");
    expect(exactTime(NOW, "Europe/Zurich")).toBe("Jun 30, 2027, 14:00 GMT+2");
  });

  test.each([
    [-30_000, "just now"],
    [30_000, "in less than a minute"],
    [-61_000, "1 minute ago"],
    [-3_600_000, "1 hour ago"],
    [-7 * 86_400_000, "7 days ago"],
    [-7 * 86_400_000 - 1, undefined],
  ])("%d ms from now are %p", (distance, text) => {
    expect(relativeTime(NOW + distance, NOW)).toBe(text);
  });

  test.each([
    ["2027-03-28", "Europe/Zurich", "2027-03-27T23:00:00.000Z"],
    ["2027-03-29", "Europe/Zurich", "2027-03-28T22:00:00.000Z"],
    ["2027-06-30", "UTC", "2027-06-30T00:00:00.000Z"],
  ])("a day of a filter is a day of the reader's zone: %s in %s", (day, zone, begin) => {
    expect(dayIn(day, { name: "since", zone, problems: [] })).toBe(Date.parse(begin));
  });

  test.each(["2027-02-30", "2027-6-1", "today", "2027-06-30T00:00", "+002027-06-30"])(
    "CON-22 %p is no day, and the problem names the filter",
    (day) => {
      const problems: { pointer: string; detail: string }[] = [];
      expect(dayIn(day, { name: "since", zone: "UTC", problems })).toBeUndefined();
      expect(problems).toEqual([{ pointer: "/since", detail: "since must be a day such as 2027-06-30" }]);
    },
  );

  test("an unknown zone or language falls back", () => {
    const request = (headers: Record<string, string>) => new Request("http://localhost/", { headers });
    expect(timeZoneOf(request({ cookie: "quartermaster_zone=Europe/Zurich" }))).toBe("Europe/Zurich");
    for (const zone of ["Nowhere/City", "", "x".repeat(65), "../../etc"])
      expect(timeZoneOf(request({ cookie: `quartermaster_zone=${zone}` }))).toBe("UTC");
    expect(languageOf(request({ "accept-language": "de-CH,de;q=0.9" }))).toBe("de-CH");
    for (const language of ["*", "en-US@posix", "x".repeat(65), ""])
      expect(languageOf(request({ "accept-language": language }))).toBe("en-US");
  });
});

describe("CON-116 numbers", () => {
  test.each([
    [0, 10, "0%"],
    [1, 1000, "1%"],
    [999, 1000, "99%"],
    [1000, 1000, "100%"],
    [0, 0, "0%"],
  ])("%d of %d is %s", (part, whole, text) => {
    expect(percentText(part, whole)).toBe(text);
  });

  test("sizes have binary units", () => {
    expect([0, 1023, 1024, 1_500_000].map((bytes) => sizeText(bytes, "en-US"))).toEqual([
      "0 B",
      "1,023 B",
      "1 KiB",
      "1.4 MiB",
    ]);
  });

  test("ids are shortened in the middle", () => {
    expect(shortened("0197c2aa-1111-7000-8000-00004f6a1000")).toBe("0197c2…6a1000");
    expect(shortened(`sha256:${"ab".repeat(32)}`)).toBe("sha256:ababab…ababab");
    expect(shortened("short")).toBe("short");
  });
});

test("CON-117 control and direction characters are visible, and long runs of combining marks are cut", () => {
  expect(visibleText("\u001b[31m\0\u007f")).toBe("␛[31m␀␡");
  expect(visibleText("a\u202eb\u2066c")).toBe("a[U+202E]b[U+2066]c");
  expect(visibleText(`e${"\u0301".repeat(500)}`)).toBe(`e${"\u0301".repeat(8)}…`);
  expect(visibleText("\u05e9\u05dc\u05d5\u05dd, Ren\u00e9")).toBe("\u05e9\u05dc\u05d5\u05dd, Ren\u00e9");
});

test("CON-117 a page shows such characters in no text, and keeps the values of its fields", () => {
  const page = `<p title="a>\u202e">b\u202e<input value="\u001b"/><textarea>\u202e</textarea>\u0000</p>`;
  expect(visibleHtml(page)).toBe(
    `<p title="a>\u202e">b[U+202E]<input value="\u001b"/><textarea>\u202e</textarea>␀</p>`,
  );
});

describe("CON-17 commands", () => {
  test("CON-117 have no control or direction characters", () => {
    expect(commandLine(["a\u001b[201~b", "\u202e"])).toBe(
      `quartermaster "$(printf '\\141\\033\\133\\062\\060\\061\\176\\142')" "$(printf '\\342\\200\\256')"`,
    );
    expect(visibleJson({ q: "a\u202e\u001bé" })).toBe(`{\n  "q": "a\\u202e\\u001bé"\n}`);
  });

  test("quotes commands for a POSIX shell", async () => {
    const words = ["it's", "$HOME", "a b", "plain-1", "`x`", "\u001b[201~;id", "a\u202eb'c"];
    const line = commandLine(words).replace("quartermaster", "printf %s\\\\n");
    const shell = Bun.spawn(["sh", "-c", line], { stdout: "pipe" });
    expect((await new Response(shell.stdout).text()).split("\n").slice(0, -1)).toEqual(words);
  });

  test("separate the options from an argument that looks like one", () => {
    expect(commandLine(["users", "set-role", "-y@example.com", "admin", "--yes"])).toBe(
      "quartermaster users set-role --yes -- -y@example.com admin",
    );
    expect(commandLine(["users", "show", "--all@example.com"])).toBe(
      "quartermaster users show -- --all@example.com",
    );
    expect(commandLine(["gateway", "models", "assign", "codex", "a", "-b", "--default", "a"])).toBe(
      "quartermaster gateway models assign codex a --default a -- -b",
    );
    expect(commandLine(["clients", "list", "--q", "-x"])).toBe("quartermaster clients list --q -x");
  });

  test("omit empty values", () => {
    expect(options({ q: "lab", user: undefined, limit: 5, all: true, none: false, empty: "" })).toEqual([
      "--q",
      "lab",
      "--limit",
      "5",
      "--all",
    ]);
  });
});

describe("CON-20 addresses", () => {
  const url = new URL("http://localhost/console/clients?q=lab&page=3&sort=host&cursor=x");

  test("keep the rest of the state", () => {
    expect(addressWith(url, { page: 4 })).toBe("/console/clients?q=lab&page=4&sort=host&cursor=x");
  });

  test("start over when a filter changes, and leave out empty values", () => {
    expect(fromStart(url, { q: undefined })).toBe("/console/clients?sort=host");
    expect(fromStart(new URL("http://localhost/a?q=1"), { q: "" })).toBe("/a");
  });

  test("the first of a repeated parameter counts", () => {
    expect(valuesOf(new URL("http://localhost/a?q=1&q=2&r=%20"))).toEqual({ q: "1" });
  });
});
