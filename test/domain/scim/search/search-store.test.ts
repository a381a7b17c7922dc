// How many compiled statements are cached.
import { expect, test } from "bun:test";
import { LRUCache } from "lru-cache";
import { compiledIn, STATEMENTS_MAX } from "../../../../src/domain/scim/search/search-store.ts";

test.each([-1, 0, 1])("SCIM-131 the oldest of %i shapes more than are kept is compiled again", (step) => {
  const kept = new LRUCache<string, { shape: string }>({ max: STATEMENTS_MAX });
  const compiled: string[] = [];
  const use = (shape: string) => {
    const compile = () => ({ shape: compiled[compiled.push(shape) - 1] ?? "" });
    expect(compiledIn(kept, shape, compile)).toEqual({ shape });
  };
  const shapes = Array.from({ length: STATEMENTS_MAX + step }, (_, at) => `shape-${at}`);
  for (const shape of [...shapes, "shape-0"]) use(shape);
  expect(compiled).toEqual(step > 0 ? [...shapes, "shape-0"] : shapes);
});
