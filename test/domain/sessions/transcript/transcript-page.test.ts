// Pages of transcripts: the format of every harness, positions between pages, and malicious bundles.
import { describe, expect, test } from "bun:test";
import {
  BUNDLE_BYTES_MAX,
  BUNDLE_FILE_BYTES_MAX,
  BUNDLE_FILES_MAX,
  ENTRY_CHARACTERS_MAX,
  MANIFEST_BYTES_MAX,
  PAGE_CHARACTERS_MAX,
  PAGE_ENTRIES_MAX,
  PAGE_RECORD_BYTES_MAX,
  RECORD_BYTES_MAX,
  RECORD_DEPTH_MAX,
  RECORDS_MAX,
} from "../../../../src/domain/sessions/transcript/limits.ts";
import { cursorOf, type Place, readCursor, START } from "../../../../src/domain/sessions/transcript/model.ts";
import { readPage } from "../../../../src/domain/sessions/transcript/page.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { bundleOf, linesOf, manifestOf, TRANSCRIPTS } from "../../../support/content/session-bundles.ts";
import { GNU_MAGIC, tarEntry, tarGzOf, tarHeader } from "../../../support/content/tar.ts";

const AT_MS = Date.parse("2026-05-04T08:30:00.000Z");

/** In chunks that end anywhere. */
async function* inPieces(bytes: Uint8Array, length = 1_000): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.byteLength; start += length) yield bytes.subarray(start, start + length);
}

const read = (bytes: Uint8Array | string, harness = "codex", place: Place = START) =>
  readPage(
    inPieces(Buffer.from(bytes), 60_000),
    { format: typeof bytes === "string" ? "legacy-raw" : "blue-session-bundle-v1", harness },
    place,
  );

const refusalOf = async (bytes: Uint8Array | string, harness?: string, place?: Place): Promise<string> => {
  const error = await read(bytes, harness, place).catch((thrown: unknown) => thrown);
  if (!(error instanceof DomainError)) throw new Error(`not refused: ${error}`);
  return `${error.reason}: ${error.message}`;
};

const userLine = (text: string) => ({ type: "user", message: { role: "user", content: text } });

describe("CON-37: the form of each harness", () => {
  const spoken = (kind: string, text: string) => ({ kind, text });
  for (const [harness, expected] of Object.entries({
    codex: ["shell", '{\n  "command": [\n    "bun",\n    "test"\n  ]\n}'],
    claude: ["Bash", '{\n  "command": "bun test"\n}'],
    kimi: ["Shell", '{\n  "command": "bun test"\n}'],
    opencode: ["bash", '{\n  "command": "bun test"\n}'],
  }))
    test(`a bundle of ${harness} shows messages, thoughts, calls, results, times and tokens`, async () => {
      const { entries, next, isCut } = await read(bundleOf(harness, TRANSCRIPTS[harness] ?? ""), harness);
      const [name, call] = expected;
      expect(
        entries.filter(({ kind }) => kind !== "usage").map(({ kind, text }) => spoken(kind, text)),
      ).toEqual([
        spoken("system", expect.stringMatching(/^(?:<environment|Caveat|reminder)/)),
        spoken("user", "Why does the test fail?"),
        spoken("reasoning", "Run it first."),
        spoken("call", call ?? ""),
        spoken("result", "1 fail"),
        spoken("assistant", "The clock is fixed."),
      ]);
      expect(entries.find(({ kind }) => kind === "call")?.name).toBe(name ?? "");
      expect(entries.find(({ kind }) => kind === "result")?.isError).toBeTrue();
      expect(entries.every(({ atMs }) => atMs === AT_MS)).toBeTrue();
      expect(entries.flatMap(({ tokens }) => tokens ?? [])).toEqual([{ input: 1200, output: 34 }]);
      expect({ next, isCut }).toEqual({ next: null, isCut: false });
    });

  test("an old upload without an archive is read as the transcript itself", async () => {
    expect((await read(TRANSCRIPTS.claude ?? "", "claude")).entries).toHaveLength(6);
    expect((await read(TRANSCRIPTS.opencode ?? "", "opencode")).entries).toHaveLength(6);
  });

  test("older wire histories of kimi have their events in messages", async () => {
    const wrapped = [
      { type: "TurnBegin", payload: { user_input: "hello" } },
      { type: "ToolCall", payload: { function: { name: "Shell", arguments: "ls" } } },
      { type: "ToolResult", payload: { return_value: { output: "a.txt", is_error: false } } },
      { type: "ContentPart", payload: { type: "text", text: "one file" } },
    ].map((message) => ({ timestamp: AT_MS / 1_000, message }));
    const { entries } = await read(linesOf(...wrapped), "kimi");
    expect(entries.map(({ kind, text }) => `${kind} ${text}`)).toEqual([
      "user hello",
      "call ls",
      "result a.txt",
      "assistant one file",
    ]);
  });
});

describe("CON-37: pages", () => {
  test("every entry is on one page, wherever records and pieces end", async () => {
    const blocks = Array.from({ length: PAGE_ENTRIES_MAX + 50 }, (_, index) => ({
      type: "text",
      text: `block ${index}`,
    }));
    const many = linesOf(
      ...Array.from({ length: PAGE_ENTRIES_MAX - 1 }, (_, index) => userLine(`line ${index}`)),
      { type: "assistant", message: { role: "assistant", content: blocks } },
      userLine("the end"),
    );
    const bundle = bundleOf("claude", many);
    const texts: string[] = [];
    const sizes: number[] = [];
    for (let place: Place | null = START; place; ) {
      const page: Awaited<ReturnType<typeof read>> = await read(bundle, "claude", place);
      expect(page.before).toBe(texts.length);
      texts.push(...page.entries.map(({ text }) => text));
      sizes.push(page.entries.length);
      place = page.next && readCursor(cursorOf(page.next));
    }
    expect(sizes).toEqual([PAGE_ENTRIES_MAX, PAGE_ENTRIES_MAX, 50]);
    expect(new Set(texts).size).toBe(2 * PAGE_ENTRIES_MAX + 50);
    expect(texts.at(-1)).toBe("the end");
  });

  test("messages of an export are found again by their place", async () => {
    const messages = Array.from({ length: PAGE_ENTRIES_MAX + 2 }, (_, index) => ({
      info: { role: "user" },
      parts: [{ type: "text", text: `"messages": [{ ${index} \\` }],
    }));
    const document = JSON.stringify({
      nested: { messages: [{ parts: [] }] },
      messages,
      after: [{ parts: [] }],
    });
    const { next } = await read(document, "opencode");
    expect(next?.before).toBe(PAGE_ENTRIES_MAX);
    const { entries } = await read(document, "opencode", next ?? START);
    expect(entries.map(({ text }) => text)).toEqual(
      messages.slice(-2).map(({ parts }) => parts[0]?.text ?? ""),
    );
  });

  test("a place in the middle of a line, or after the end, is refused", async () => {
    const text = linesOf(userLine("one"), userLine("two"));
    for (const offset of [3, 10_000])
      expect(await refusalOf(text, "claude", { offset, skipped: 0, before: 0 })).toStartWith(
        "sessions.invalid",
      );
    for (const cursor of ["x", "1.2", "-1.0.0", "1.0.0.0", "9999999999.0.0", ""])
      expect(() => readCursor(cursor)).toThrow("cursor must be");
  });

  test("a page ends before it has too many entries, characters or bytes", async () => {
    const entriesOf = async (...records: readonly unknown[]) =>
      (await read(linesOf(...records), "claude")).entries.length;
    for (const more of [-1, 0, 1])
      expect(await entriesOf(...Array.from({ length: PAGE_ENTRIES_MAX + more }, () => userLine("x")))).toBe(
        Math.min(PAGE_ENTRIES_MAX, PAGE_ENTRIES_MAX + more),
      );
    const length = PAGE_CHARACTERS_MAX / 20;
    for (const more of [-1, 0, 1]) {
      const last = userLine("x".repeat(length + more));
      expect(await entriesOf(...Array.from({ length: 19 }, () => userLine("x".repeat(length))), last)).toBe(
        more > 0 ? 19 : 20,
      );
    }
    const silent = (bytes: number) => ({
      type: "progress",
      data: "x".repeat(bytes - '{"type":"progress","data":""}'.length),
    });
    const part = PAGE_RECORD_BYTES_MAX / 8;
    for (const more of [-1, 0, 1]) {
      const begun = [userLine("x".repeat(100)), ...Array.from({ length: 7 }, () => silent(part))];
      const used = Buffer.byteLength(linesOf(...begun)) - begun.length;
      const page = await read(
        linesOf(...begun, silent(PAGE_RECORD_BYTES_MAX - used + more), userLine("last")),
        "claude",
      );
      // After the limit the page ends before the next record, whatever it contains.
      expect(page.next !== null).toBeTrue();
      expect(page.next?.offset === Buffer.byteLength(linesOf(...begun))).toBe(more > 0);
    }
  });
});

describe("CON-37: bundles made to do harm", () => {
  test("a text is cut at its limit", async () => {
    for (const more of [-1, 0, 1]) {
      const { entries } = await read(linesOf(userLine("x".repeat(ENTRY_CHARACTERS_MAX + more))), "claude");
      expect(entries[0]?.isCut).toBe(more > 0);
      expect(entries[0]?.text.length).toBe(Math.min(ENTRY_CHARACTERS_MAX, ENTRY_CHARACTERS_MAX + more));
    }
  });

  test("a value of many members is written up to what an entry shows", async () => {
    const input = Array.from({ length: 200_000 }, (_, index) => index);
    const call = {
      type: "assistant",
      message: { content: [{ type: "tool_use", name: "x".repeat(10_000), input }] },
    };
    const { entries } = await read(linesOf(call), "claude");
    expect({
      cut: entries[0]?.isCut,
      length: entries[0]?.text.length,
      name: entries[0]?.name?.length,
    }).toEqual({
      cut: true,
      length: ENTRY_CHARACTERS_MAX,
      name: 200,
    });
  });

  test("a line that is too long is named and not read", async () => {
    const empty = Buffer.byteLength(JSON.stringify(userLine("")));
    for (const more of [-1, 0, 1]) {
      const long = linesOf(userLine("x".repeat(RECORD_BYTES_MAX - empty + more)), userLine("next"));
      const { entries } = await read(long, "claude");
      expect(entries.map(({ kind }) => kind)).toEqual([more > 0 ? "note" : "user", "user"]);
      expect(entries[0]?.isCut).toBe(more <= 0);
    }
  });

  test("deep nesting is named and not parsed", async () => {
    const nested = (depth: number) =>
      `{"type":"user","message":{"content":"deep"},"x":${"[".repeat(depth - 1)}${"]".repeat(depth - 1)}}\n`;
    for (const more of [-1, 0, 1]) {
      const { entries } = await read(nested(RECORD_DEPTH_MAX + more) + linesOf(userLine("next")), "claude");
      expect(entries[0]?.kind).toBe(more > 0 ? "note" : "user");
    }
    await read(`${"[".repeat(RECORD_BYTES_MAX - 1)}\n${linesOf(userLine("next"))}`, "claude");
  });

  test("records beyond the limit of reading are left to the download", async () => {
    for (const more of [-1, 0, 1]) {
      const text = linesOf(userLine("first")) + "\n".repeat(RECORDS_MAX - 1 + more);
      expect((await read(text, "claude")).isCut).toBe(more > 0);
    }
  });

  test("ignores lines that are not JSON, null, numbers and lists", async () => {
    const odd = `null\n1\n[]\n"x"\n{"type":"user"}\n{"type":"user","message":{"content":[null,1,{"type":"text","text":7}]}}\nnot json\n\xff\n`;
    const { entries } = await read(odd + linesOf(userLine("next")), "claude");
    expect(entries.map(({ kind }) => kind)).toEqual(["note", "note", "user"]);
    for (const harness of ["codex", "kimi"])
      expect(await refusalOf(odd, harness)).toContain("nothing in it has a known form");
    expect(await refusalOf('{"messages":[null,{"parts":[1]}]}', "opencode")).toContain("nothing in it");
  });

  const fileOf = (name: string, body: string | Uint8Array) => tarEntry({ name, magic: GNU_MAGIC }, body);
  const manifest = (more: object = {}) =>
    fileOf("manifest.json", JSON.stringify({ files: [{ role: "rollout", path: "files/0000-x" }], ...more }));

  test("archives that are broken, or hold something else, say why", async () => {
    const bundle = bundleOf("codex", TRANSCRIPTS.codex ?? "");
    const reasons = {
      "not gzip data": Buffer.from("plain text"),
      "damaged, truncated": bundle.subarray(0, bundle.byteLength / 2),
      "something other than tar headers": tarGzOf(new Uint8Array(512).fill(7)),
      "ends in the middle": tarGzOf(manifest(), tarHeader({ name: "files/0000-x", size: 9_999 }, 9_999)),
      "does not begin with manifest.json": tarGzOf(fileOf("files/0000-x", "{}")),
      "manifest is not JSON": tarGzOf(fileOf("manifest.json", "{")),
      "no file with the role rollout": tarGzOf(manifest({ files: [{ role: "state" }, null] })),
      "lacks the file": tarGzOf(manifest()),
      "such as a link": tarGzOf(
        manifest(),
        tarHeader({ name: "files/0000-x", type: "2", linkName: "/etc/passwd" }),
      ),
    };
    for (const [reason, bytes] of Object.entries(reasons)) expect(await refusalOf(bytes)).toContain(reason);
    expect(await refusalOf(bundle, "copilot")).toContain("transcripts of copilot are not known");
    expect(await refusalOf("", "claude")).toContain("nothing in it has a known form of claude");
  });

  test("a manifest, a file and the number of files are bounded", async () => {
    const padded = (bytes: number) => {
      const text = manifestOf("codex", [{ role: "rollout", path: "files/0000-x", body: "" }]);
      return tarGzOf(
        fileOf("manifest.json", text + " ".repeat(bytes - text.length)),
        fileOf("files/0000-x", TRANSCRIPTS.codex ?? ""),
      );
    };
    for (const more of [-1, 0])
      expect((await read(padded(MANIFEST_BYTES_MAX + more))).entries.length).toBeGreaterThan(0);
    expect(await refusalOf(padded(MANIFEST_BYTES_MAX + 1))).toContain(`at most ${MANIFEST_BYTES_MAX}`);
    const sized = (size: number) => tarGzOf(manifest(), tarHeader({ name: "files/other", size }, size));
    for (const more of [-1, 0])
      expect(await refusalOf(sized(BUNDLE_FILE_BYTES_MAX + more))).toContain("in the middle");
    expect(await refusalOf(sized(BUNDLE_FILE_BYTES_MAX + 1))).toContain(`at most ${BUNDLE_FILE_BYTES_MAX}`);
    const filled = (files: number) =>
      tarGzOf(
        manifest(),
        ...Array.from({ length: files - 1 }, () => fileOf("files/other", "")),
        fileOf("files/0000-x", TRANSCRIPTS.codex ?? ""),
      );
    for (const more of [-1, 0])
      expect((await read(filled(BUNDLE_FILES_MAX + more))).entries.length).toBeGreaterThan(0);
    expect(await refusalOf(filled(BUNDLE_FILES_MAX + 1))).toContain(`more than ${BUNDLE_FILES_MAX} files`);
  });

  test("stops at more unpacked bytes than a client ever produces", async () => {
    const zeros = Bun.gzipSync(new Uint8Array(BUNDLE_BYTES_MAX / 2));
    const header = (size: number) =>
      Bun.gzipSync(Buffer.concat([manifest(), tarHeader({ name: "files/other", size }, size)]));
    // Several gzip members are one stream: 2 KiB of headers, then zeros in two files.
    const bomb = Buffer.concat([
      header(BUNDLE_BYTES_MAX / 2),
      zeros,
      Bun.gzipSync(
        Buffer.concat([tarHeader({ name: "files/more", size: BUNDLE_BYTES_MAX / 2 }, BUNDLE_BYTES_MAX / 2)]),
      ),
      zeros,
    ]);
    expect(await refusalOf(bomb)).toContain(`more than ${BUNDLE_BYTES_MAX} bytes`);
  });
});
