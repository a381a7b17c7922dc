// The model that a request body names: found in any position, in chunks of any size, and never confused with one inside a prompt.
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { MODEL_CHARACTERS_MAX, ModelScanner } from "../../../../src/domain/inference/bodies/model-scanner.ts";

const encoder = new TextEncoder();

/** @returns the scanner's result for a body that arrives in chunks of this size */
function scan(body: string | Uint8Array, { pieceBytes = 1_000_000, isThorough = false } = {}) {
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const scanner = new ModelScanner(isThorough);
  for (let at = 0; at < bytes.length; at += pieceBytes)
    if (!scanner.push(bytes.subarray(at, at + pieceBytes))) break;
  return { model: scanner.model, isUnreadable: scanner.isUnreadable };
}

const found = (model: string) => ({ model, isUnreadable: false });
const NONE = { model: undefined, isUnreadable: false };
const UNREADABLE = { model: undefined, isUnreadable: true };

describe("the scanner of a request body finds the model (INF-40)", () => {
  test.each([
    ["first", '{"model":"willow-2","messages":[]}'],
    ["last", '{"messages":[{"role":"user","content":"hi"}],"stream":true,"n":1,"x":null,"model":"willow-2"}'],
    ["after white space and a byte order mark", '\uFEFF \n{ "a" : 1 , "model" \t:\r\n "willow-2" }'],
    ["spelled with escapes", '{"mod\\u0065l":"willow\\u002d2"}'],
    [
      "with members of the same name further down",
      '{"input":{"model":"other"},"tools":[{"model":"x"}],"model":"willow-2"}',
    ],
    ["behind a prompt that looks like it", '{"input":"\\",\\"model\\":\\"other\\"","model":"willow-2"}'],
    ["behind a prompt that ends in a backslash", '{"input":"c:\\\\","model":"willow-2"}'],
    ["behind a string that is the key's name", '{"kind":"model","model":"willow-2"}'],
  ])("%s, in pieces of any size", (_, body) => {
    for (const pieceBytes of [1, 2, 3, 7, 1_000]) {
      expect(scan(body, { pieceBytes })).toEqual(found("willow-2"));
      expect(scan(body, { pieceBytes, isThorough: true })).toEqual(found("willow-2"));
    }
  });

  test.each([
    ["an object without one", '{"input":"hello"}', NONE],
    ["a body that ends before it", '{"input":"hello","mod', NONE],
    ["an empty body", "", NONE],
    ["a number", '{"model":7}', UNREADABLE],
    ["null", '{"model":null}', UNREADABLE],
    ["a list", '{"model":["a"]}', UNREADABLE],
    ["an empty string", '{"model":""}', UNREADABLE],
    ["a value that is too long", `{"model":"${"m".repeat(MODEL_CHARACTERS_MAX + 1)}"}`, UNREADABLE],
    ["a list of requests", '[{"model":"willow-2"}]', UNREADABLE],
    ["a string", '"model"', UNREADABLE],
    ["no JSON", "model=willow-2", UNREADABLE],
    ["UTF-16", Buffer.from('{"model":"willow-2"}', "utf16le"), UNREADABLE],
    ["gzip", Bun.gzipSync('{"model":"willow-2"}'), UNREADABLE],
  ])("reports %s", (_, body, expected) => {
    expect(scan(body)).toEqual(expected);
    expect(scan(body, { pieceBytes: 1 })).toEqual(expected);
  });

  test("reads a value of the maximum length", () => {
    const model = "m".repeat(MODEL_CHARACTERS_MAX);
    expect(scan(JSON.stringify({ model }))).toEqual(found(model));
  });

  test("stops at the first model unless it reads thoroughly, and then refuses a second one", () => {
    const body = '{"model":"willow-2","input":1,"model":"oak-9"}';
    expect(scan(body)).toEqual(found("willow-2"));
    expect(scan(body, { isThorough: true })).toEqual({ model: "willow-2", isUnreadable: true });
  });

  test.each([
    "fallbacks",
    "context_window_fallbacks",
    "content_policy_fallbacks",
    "context_window_fallback_dict",
    "router_settings_override",
    "user_config",
    "model_list",
    "models",
    "extra_body",
  ])("refuses other models in %s if it reads thoroughly, with any spelling of the name", (name) => {
    const escaped = [...name].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
    for (const key of [name, escaped])
      for (const pieceBytes of [1, 7, 1_000]) {
        const options = { pieceBytes, isThorough: true };
        expect(scan(`{"model":"willow-2","${key}":["oak-9"]}`, options).isUnreadable).toBe(true);
        expect(scan(`{"${key}":["oak-9"],"model":"willow-2"}`, options).isUnreadable).toBe(true);
        const below = `{"input":{"${key}":1},"x":"${key}","model":"willow-2","${key}s":1}`;
        expect(scan(below, options)).toEqual(found("willow-2"));
      }
    expect(scan(`{"${name}":["oak-9"],"model":"willow-2"}`)).toEqual(found("willow-2"));
  });

  test("agrees with JSON.parse on any object with any prompts", () => {
    const member = fc.oneof(
      fc.json(),
      fc.string().map((text) => JSON.stringify(text)),
    );
    const members = fc.dictionary(fc.string(), member, { maxKeys: 6 });
    fc.assert(
      fc.property(members, fc.nat(5), fc.integer({ min: 1, max: 9 }), (others, place, pieceBytes) => {
        const lines = Object.entries(others)
          .filter(([name]) => name !== "model")
          .map(([name, value]) => `${JSON.stringify(name)}:${value}`);
        lines.splice(place, 0, '"model":"willow-2"');
        const body = `{${lines.join(",")}}`;
        expect(JSON.parse(body).model).toBe("willow-2");
        expect(scan(body, { pieceBytes, isThorough: true })).toEqual(found("willow-2"));
      }),
    );
  });
});
