// The finding of `doctor` about a check that throws.
import { expect, test } from "bun:test";
import { examine } from "../../../src/app/doctor/finding.ts";

test("a check that runs out of memory names the memory limit, not the remedy of the check", async () => {
  const look = () => {
    throw Object.assign(new Error("out of memory"), { code: "SQLITE_NOMEM" });
  };
  expect(await examine("integrity", look, "restore the last backup")).toEqual([
    {
      check: "integrity",
      result: "failed",
      detail: "out of memory during this check",
      remedy: expect.stringMatching(/^the memory limit is .+; raise it$/),
    },
  ]);
});
