// Untrusted text cannot control the terminal through any output. Tests every range of harmful characters.
import { describe, expect, test } from "bun:test";
import { failureText } from "../../../cli/exit.ts";
import { printable, printableJson } from "../../../cli/output/printable.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { createLog } from "../../../src/platform/observe/log.ts";

/** First and last character of every range; the neighbors of each range are harmless. */
const HARMFUL = [
  ["C0 controls", 0x00, 0x1f],
  ["DEL and C1 controls", 0x7f, 0x9f],
  ["the Arabic letter mark", 0x61c, 0x61c],
  ["marks of direction", 0x200e, 0x200f],
  ["separators, embeddings and overrides", 0x2028, 0x202e],
  ["isolates", 0x2066, 0x2069],
] as const;
/** Format characters: harmless in text, but invisible in JSON. */
const FORMAT = /\p{Cf}/u;
const codesIn = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

describe.each(HARMFUL)("%s", (_name, from, to) => {
  const codes = codesIn(from, to);

  test("replaces the characters in text", () => {
    for (const code of codes) expect(printable(`a${String.fromCharCode(code)}b`)).toBe("a\ufffdb");
  });

  test("escapes the characters in JSON without changing its value", () => {
    for (const code of codes) {
      const value = { [`k${String.fromCharCode(code)}`]: [`a${String.fromCharCode(code)}b`] };
      for (const indent of [0, 2]) {
        const text = printableJson(JSON.stringify(value, null, indent));
        expect(text).toMatch(/^[ -~\n]+$/);
        expect(JSON.parse(text)).toEqual(value);
      }
    }
  });

  test("removes the characters from errors: as text, as JSON, and in stack traces", () => {
    for (const code of codes) {
      const bad = `a${String.fromCharCode(code)}b`;
      const error = new DomainError("invalid", "test.bad", bad, {
        hint: bad,
        problems: [{ pointer: bad, detail: bad }],
      });
      for (const json of [false, true]) {
        for (const debug of [false, true]) {
          const text = failureText(error, "run", { json, debug, color: false });
          expect(text.replaceAll("\n", "")).not.toContain(String.fromCharCode(code));
        }
      }
    }
  });

  test("removes the characters from the log", () => {
    for (const code of codes) {
      const bad = `a${String.fromCharCode(code)}b`;
      for (const format of ["json", "text"] as const) {
        const written: string[] = [];
        const log = createLog({
          level: "info",
          format,
          clock: { nowMs: () => 0 },
          write: (line) => void written.push(line),
        });
        log.info(bad, { [bad]: bad, error: new Error(bad) });
        expect(written.join("")).toMatch(/^[ -~]+\n$/);
      }
    }
  });

  test("leave neighboring characters unchanged", () => {
    for (const code of [from - 1, to + 1].filter((neighbor) => neighbor >= 0)) {
      const text = `a${String.fromCharCode(code)}b`;
      expect(printable(text)).toBe(text);
      if (!FORMAT.test(text)) expect(printableJson(JSON.stringify(text))).toBe(JSON.stringify(text));
    }
  });
});

test.each([
  ["a soft hyphen", "\u00ad", "\\u00ad"],
  ["a zero width joiner", "\u200d", "\\u200d"],
  ["a byte order mark", "\ufeff", "\\ufeff"],
  ["a tag beyond U+FFFF", "\u{e0041}", "\\udb40\\udc41"],
])("%s cannot be seen: JSON and the log escape it", (_name, character, sequence) => {
  const text = `a${character}b`;
  expect(printableJson(JSON.stringify({ text }))).toBe(`{"text":"a${sequence}b"}`);
  expect(JSON.parse(printableJson(JSON.stringify({ text })))).toEqual({ text });
  const written: string[] = [];
  const write = (line: string) => void written.push(line);
  createLog({ level: "info", format: "json", clock: { nowMs: () => 0 }, write }).info("test", { text });
  expect(written.join("")).toContain(`"a${sequence}b"`);
});

test("keeps the line breaks of formatted JSON", () => {
  expect(printableJson(JSON.stringify({ a: 1 }, null, 2))).toBe('{\n  "a": 1\n}');
});
