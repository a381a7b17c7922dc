// The limits of queries of the request log.
import { describe, expect, test } from "bun:test";
import { LENGTH_MAX, readLogQuery } from "../../../../src/domain/inference/log/query.ts";

describe.each(Object.entries(LENGTH_MAX))("%s", (member, max) => {
  test.each([-1, 0, 1])("may have %i characters more than the limit only up to it", (step) => {
    const read = () => readLogQuery({ [member]: "x".repeat(max + step) }, 0);
    if (step <= 0) expect(read().search.filter).toMatchObject({ [member]: "x".repeat(max + step) });
    else expect(read).toThrow(expect.objectContaining({ reason: "request_log.invalid" }));
  });
});
