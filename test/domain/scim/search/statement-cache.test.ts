// How many compiled statements are kept, and which go first.
import { expect, test } from "bun:test";
import { StatementCache } from "../../../../src/domain/scim/search/statement-cache.ts";

/** @returns the keys that had to be compiled, in order */
function compiledFor(max: number, keys: readonly string[]): string {
  const cache = new StatementCache<string>(max);
  const compiled: string[] = [];
  for (const key of keys) {
    const statement = cache.get(key, () => {
      compiled.push(key);
      return `statement ${key}`;
    });
    expect(statement).toBe(`statement ${key}`);
  }
  return compiled.join("");
}

test.each([
  ["fewer than fit", "ababab", "ab"],
  ["as many as fit", "abcabc", "abc"],
  ["more than fit, the one used longest ago", "abcada", "abcd"],
  ["more than fit, however they come", "abcdabcd", "abcdabcd"],
])("SCIM-131 a statement is compiled once unless it was evicted: %s", (_what, keys, compiled) => {
  expect(compiledFor(3, [...keys])).toBe(compiled);
});
