// CON-97: what counts as a logo.
import { describe, expect, test } from "bun:test";
import { LOGO_BYTES_MAX, readLogo } from "../../../src/domain/system/logo.ts";

const XMLNS = 'xmlns="http://www.w3.org/2000/svg"';
const SVG = `<svg ${XMLNS}></svg>`;
const PNG = "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000049454e44ae426082";
const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

describe("CON-97 a logo", () => {
  test.each([
    ["image/png", Uint8Array.fromHex(PNG)],
    ["image/svg+xml", bytesOf(SVG)],
    [
      "image/svg+xml",
      bytesOf(`\ufeff<?xml version="1.0"?>\n<!-- a --><svg viewBox="0 0 1 1" ${XMLNS}><path/></svg>\n`),
    ],
  ])("has the type of its content: %s", (mediaType, bytes) => {
    expect(readLogo(bytes)).toEqual({ mediaType: expect.stringMatching(mediaType), bytes });
  });

  test.each([
    ["", "is empty"],
    ["<!doctype html><html></html>", "PNG or SVG"],
    ["<html><svg></svg></html>", "PNG or SVG"],
    ["<svg></svg>", "PNG or SVG"],
    ["GIF89a", "PNG or SVG"],
    ["\x89PNG\r\n\x1a\n<html>", "PNG or SVG"],
    [`<svg ${XMLNS}><script>alert(1)</script></svg>`, "must not have scripts"],
    [`<svg ${XMLNS} onload="alert(1)"></svg>`, "must not have scripts"],
    [`<svg ${XMLNS}><a href="javascript:alert(1)"/></svg>`, "must not have scripts"],
    [`<svg ${XMLNS}><foreignObject/></svg>`, "must not have scripts"],
    [`<svg ${XMLNS}>`, "PNG or SVG"],
  ])("is refused: %j", (text, problem) => {
    expect(() => readLogo(bytesOf(text))).toThrow(problem);
  });

  test("has at most 256 KiB", () => {
    for (const length of [LOGO_BYTES_MAX - 1, LOGO_BYTES_MAX])
      expect(readLogo(bytesOf(SVG.padEnd(length))).bytes).toHaveLength(length);
    expect(() => readLogo(bytesOf(SVG.padEnd(LOGO_BYTES_MAX + 1)))).toThrow("more than 262144 bytes");
  });
});
