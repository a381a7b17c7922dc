// `doctor` on the memory of verified tokens: whether it holds one for each workstation.
import { expect, test } from "bun:test";
import { tokenMemoryFinding } from "../../../src/app/doctor/domain-checks.ts";
import { checkOf } from "../../../src/app/doctor/finding.ts";
import { TOKEN_BYTES_MAX } from "../../../src/domain/access/authentication/verified-tokens.ts";

const TOKENS = (1024 * 1024) / TOKEN_BYTES_MAX;

test.each([
  ["below", TOKENS - 1, "ok", null],
  ["at", TOKENS, "ok", null],
  ["above", TOKENS + 1, "warning", "set access.token_memory_mb to at least 2, and restart the service"],
])("workstations %s the capacity of a megabyte are reported", (_where, workstations, result, remedy) => {
  const finding = tokenMemoryFinding(checkOf("token_memory"), { workstations, sizeMb: 1 });
  expect(finding).toMatchObject({ check: "token_memory", result, remedy });
  expect(finding.detail).toStartWith(`1 MB hold 16384 tokens, and ${workstations} workstations report`);
});
