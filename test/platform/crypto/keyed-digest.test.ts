// Digests that cannot be computed without the key: equal texts have equal digests, and another key gives others.
import { expect, test } from "bun:test";
import {
  createKeyedDigest,
  DIGEST_WORDS,
  type KeyedDigest,
} from "../../../src/platform/crypto/keyed-digest.ts";

const digest = (digestOf: KeyedDigest, text: string): number[] => {
  const words = new Uint32Array(DIGEST_WORDS);
  digestOf(text, words);
  return [...words];
};

test("a digest is equal for equal text and key, and differs for every other text or key", () => {
  const [own, other] = [createKeyedDigest(), createKeyedDigest()];
  expect(digest(own, "a token")).toEqual(digest(own, "a token"));
  expect(digest(own, "a token")).not.toEqual(digest(own, "another token"));
  expect(digest(own, "a token")).not.toEqual(digest(other, "a token"));
});
