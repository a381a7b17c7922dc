// Freeing the pieces of a stream: only pieces that own their memory, when the next one is requested.
import { expect, test } from "bun:test";
import { releasing } from "../../../src/platform/memory/releasing.ts";

async function* streamOf(...pieces: Uint8Array[]) {
  yield* pieces;
}

test("a piece is usable until the next one is requested, and then it is freed", async () => {
  const [one, other] = [new Uint8Array([1, 2]), new Uint8Array([3])];
  const pieces = releasing(streamOf(one, other));
  expect((await pieces.next()).value).toEqual(new Uint8Array([1, 2]));
  expect(one.byteLength).toBe(2);
  await pieces.next();
  expect([one.byteLength, other.byteLength]).toEqual([0, 1]);
  await pieces.next();
  expect(other.byteLength).toBe(0);
});

test("a piece that shares its memory is not freed", async () => {
  const shared = new Uint8Array([1, 2, 3]);
  await Array.fromAsync(releasing(streamOf(shared.subarray(0, 1), shared.subarray(1))));
  expect([...shared]).toEqual([1, 2, 3]);
});
