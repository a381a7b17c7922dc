// How many places an error of publishing names.
import { expect, test } from "bun:test";
import { PATHS_NAMED_MAX, staleRevision } from "../../../src/domain/governance/errors.ts";

test.each([-1, 0, 1])("a conflict names changed places up to the limit %d", (more) => {
  const places = Array.from({ length: PATHS_NAMED_MAX + more }, (_, at) => `/packages/${at}`);
  const { problems } = staleRevision("1", places);
  expect(problems.map(({ pointer }) => pointer)).toEqual(places.slice(0, PATHS_NAMED_MAX));
});
