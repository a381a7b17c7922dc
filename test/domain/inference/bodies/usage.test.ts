// The token counts of a response, read from its first and last bytes in chunks of any size.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  HEAD_BYTES,
  ResponseEnds,
  TAIL_BYTES,
} from "../../../../src/domain/inference/bodies/response-ends.ts";
import {
  CANDIDATES_MAX,
  NO_USAGE,
  readUsage,
  TOKENS_MAX,
} from "../../../../src/domain/inference/bodies/usage.ts";
import { bytesOf, CHAT, MESSAGES, RECORDINGS, RESPONSES } from "../../../support/inference/recordings.ts";

/** @returns the usage of a response that arrives in chunks of this size */
function usageOf(answer: string | Uint8Array, { pieceBytes = 1_000_000, isWhole = true } = {}) {
  const bytes = Buffer.from(answer);
  const ends = new ResponseEnds();
  for (let at = 0; at < bytes.length; at += pieceBytes) ends.push(bytes.subarray(at, at + pieceBytes));
  return readUsage(ends, { isWhole });
}

const reported = ({ usage }: (typeof RECORDINGS)[number]) => ({
  inputTokens: usage.input,
  outputTokens: usage.output,
  cacheReadTokens: usage.cacheRead,
  cacheWriteTokens: usage.cacheWrite,
  usageSource: "reported",
});

describe("usage is read at the end of a response (INF-41)", () => {
  test.each(RECORDINGS.map((recording) => [recording.name, recording] as const))("%s", (_, recording) => {
    for (const pieceBytes of [1, 7, 200, 100_000]) {
      expect(usageOf(bytesOf(recording), { pieceBytes })).toMatchObject(reported(recording));
      expect(usageOf(recording.json, { pieceBytes })).toMatchObject(reported(recording));
    }
    const crlf = recording.events.join("").replaceAll("\n", "\r\n");
    expect(usageOf(crlf)).toMatchObject(reported(recording));
  });

  test("ignores numbers that no response has, such as those in a tool of the client", () => {
    const created = (tokens: number) =>
      `event: response.created\ndata: {"response":{"tools":[{"usage":{"input_tokens":${tokens}}}],"usage":null}}\n\n`;
    expect(usageOf(created(TOKENS_MAX), { isWhole: false })).toMatchObject({ inputTokens: TOKENS_MAX });
    for (const tokens of [TOKENS_MAX + 1, Number.MAX_SAFE_INTEGER, 1e300, -1, 0.5])
      expect(usageOf(created(tokens), { isWhole: false })).toEqual(NO_USAGE);
  });

  test.each([-1, 0, 1])("reads the last candidates only: %i more than the limit", (step) => {
    const { usage } = JSON.parse(CHAT.json);
    const others = Array.from({ length: CANDIDATES_MAX + step - 1 }, () => ({ usage: null }));
    const isFound = step <= 0;
    const expected = isFound ? reported(CHAT) : NO_USAGE;
    const filler = "x".repeat(HEAD_BYTES + TAIL_BYTES);
    expect(usageOf(JSON.stringify({ filler, usage, others }))).toMatchObject(expected);
    expect(usageOf(JSON.stringify({ others, usage, filler }))).toMatchObject(expected);
  });

  test("reads usage from a stream that is longer than both ends", () => {
    const filler = `data: {"delta":"${"x".repeat(500)}"}\n\n`.repeat(200);
    const [start = "", ...rest] = MESSAGES.events;
    expect(usageOf(start + filler + rest.join(""), { pieceBytes: 333 })).toMatchObject(reported(MESSAGES));
    expect(usageOf(filler + CHAT.events.join(""), { pieceBytes: 333 })).toMatchObject(reported(CHAT));
  });

  test("reads usage from a long JSON response that begins with it", () => {
    const { usage } = JSON.parse(CHAT.json);
    expect(usageOf(JSON.stringify({ usage, text: "x".repeat(100_000) }))).toMatchObject(reported(CHAT));
  });

  test("reads partial usage where Anthropic's stream ended before its result", () => {
    const early = MESSAGES.events.slice(0, 5).join("");
    expect(usageOf(early, { isWhole: false })).toEqual({
      inputTokens: 23,
      outputTokens: null,
      cacheReadTokens: 70,
      cacheWriteTokens: 11,
      usageSource: "partial",
    });
  });

  test("reads no usage if the response ended before it", () => {
    expect(usageOf(RESPONSES.events.slice(0, 6).join(""), { isWhole: false })).toEqual(NO_USAGE);
    expect(usageOf(CHAT.events.slice(0, 6).join(""), { isWhole: false })).toEqual(NO_USAGE);
  });

  test.each([
    ["an empty answer", ""],
    ["null", '{"usage":null}'],
    ["an object that is cut", '{"usage":{"prompt_tokens":5'],
    ["a tool with a parameter of that name", '{"tools":[{"properties":{"usage":{"type":"string"}}}]}'],
    ["text that quotes it", JSON.stringify({ text: '"usage":{"prompt_tokens":5}' })],
    ["counts that are not numbers", '{"usage":{"prompt_tokens":-1,"completion_tokens":"7"}}'],
    ["bytes that are not text", Uint8Array.from({ length: 600 }, (_, at) => at * 37)],
  ])("reads no usage for %s", (_, answer) => {
    expect(usageOf(answer)).toEqual(NO_USAGE);
  });

  test("keeps the last of several, also if a later one counts nothing", () => {
    const answer =
      '{"usage":{"input_tokens":1}} {"usage":{"input_tokens":8,"output_tokens":2}} {"usage":{"type":"x"}}';
    expect(usageOf(answer)).toMatchObject({ inputTokens: 8, outputTokens: 2 });
  });
});

test("the ends of a response are its first and last bytes, in chunks of any size", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 3_000 }), { maxLength: 60, size: "max" }), (lengths) => {
      const ends = new ResponseEnds();
      let sent = "";
      for (const length of lengths) {
        const piece = String(length).padEnd(length, "-").slice(0, length);
        ends.push(Buffer.from(piece));
        sent += piece;
      }
      expect(ends.head().toString("latin1")).toBe(sent.slice(0, HEAD_BYTES));
      expect(ends.tail().toString("latin1")).toBe(sent.slice(-TAIL_BYTES));
      expect(ends.last(4)).toBe(sent.slice(-4));
    }),
  );
});
