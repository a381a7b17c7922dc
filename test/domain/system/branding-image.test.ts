// CON-97: which files are accepted as a logo or an icon.
import { describe, expect, test } from "bun:test";
import { IMAGE_BYTES_MAX, IMAGE_SIDE_MAX, readImage } from "../../../src/domain/system/branding-image.ts";

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
    expect(readImage("logo", bytes)).toEqual({ mediaType: expect.stringMatching(mediaType), bytes });
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
    expect(() => readImage("logo", bytesOf(text))).toThrow(problem);
  });

  test("limits the pixels of a PNG, even of a small file", () => {
    const sized = (width: number, height: number): Uint8Array<ArrayBuffer> => {
      const bytes = Uint8Array.fromHex(PNG);
      const view = new DataView(bytes.buffer);
      view.setUint32(16, width);
      view.setUint32(20, height);
      return bytes;
    };
    for (const side of [1, IMAGE_SIDE_MAX - 1, IMAGE_SIDE_MAX])
      expect(readImage("icon", sized(side, side)).mediaType).toBe("image/png");
    for (const [width, height] of [
      [IMAGE_SIDE_MAX + 1, 1],
      [1, IMAGE_SIDE_MAX + 1],
      [0xffff_ffff, 0xffff_ffff],
      [0, 1],
    ] as const)
      expect(() => readImage("icon", sized(width, height))).toThrow(
        `the icon is ${width} by ${height} pixels`,
      );
  });

  test("has at most 256 KiB", () => {
    for (const length of [IMAGE_BYTES_MAX - 1, IMAGE_BYTES_MAX])
      expect(readImage("logo", bytesOf(SVG.padEnd(length))).bytes).toHaveLength(length);
    expect(() => readImage("logo", bytesOf(SVG.padEnd(IMAGE_BYTES_MAX + 1)))).toThrow(
      "the logo has more than 256 KiB",
    );
  });
});
