// UUIDs as words: every UUID is restored unchanged, and no other text is taken for one.
import { expect, test } from "bun:test";
import fc from "fast-check";
import { readUuid, writeUuid } from "../../src/platform/uuid-words.ts";

test("every UUID is read back unchanged at any position", () => {
  fc.assert(
    fc.property(fc.uuid(), fc.nat({ max: 8 }), (uuid, at) => {
      const words = new Uint32Array(12);
      expect(writeUuid(uuid, words, at)).toBe(true);
      expect(readUuid(words, at)).toBe(uuid);
    }),
  );
});

test.each([
  "",
  "00000000-0000-0000-0000-00000000000",
  "00000000-0000-0000-0000-0000000000000",
  "AAAAAAAA-0000-0000-0000-000000000000",
  "g0000000-0000-0000-0000-000000000000",
  "{00000000-0000-0000-0000-000000000000}",
])("%p is not written", (text) => {
  const words = new Uint32Array(4);
  expect(writeUuid(text, words)).toBe(false);
  expect([...words]).toEqual([0, 0, 0, 0]);
});
