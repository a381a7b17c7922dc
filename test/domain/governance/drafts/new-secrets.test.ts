// The probable secrets that a draft adds to a policy.
import { expect, test } from "bun:test";
import { safeDefault } from "../../../../src/domain/governance/document/safe-default.ts";
import { NEW_SECRETS_NAMED_MAX, newSecretsOf } from "../../../../src/domain/governance/drafts/new-secrets.ts";
import type { GovernanceConfig } from "../../../../src/domain/governance/model.ts";

const withConfig = (managed_config: Record<string, unknown>, args: string[] = []): GovernanceConfig => ({
  ...safeDefault(),
  harnesses: {
    codex: {
      managed_config,
      mcp: [{ name: "docs", command: "docs", args, disabled: false }],
      package_overrides: {},
    },
  },
});

test("CON-144 a secret is new if its place had another value", () => {
  const before = withConfig({ api_key: "one", list: ["--token", "two"] }, ["--key-file=x", "--token=three"]);
  const same = withConfig({ api_key: "one", list: ["-v", "--token", "two"] }, ["-v", "--token=three"]);
  expect(newSecretsOf(before, same)).toEqual({ count: 0, named: [] });
  const after = withConfig({ api_key: "1", list: ["--token", "2"] }, ["--token=3"]);
  const config = "/harnesses/codex/managed_config";
  expect(newSecretsOf(before, after)).toEqual({
    count: 3,
    named: [`${config}/api_key`, `${config}/list/1`, "/harnesses/codex/mcp/docs/args/0"],
  });
});

test("CON-144 references to variables are not secrets", () => {
  const after = withConfig({ api_key: "$KEY", token: "os.environ/KEY" }, ["--token=$KEY"]);
  expect(newSecretsOf(safeDefault(), after).named).toEqual([]);
});

test.each([NEW_SECRETS_NAMED_MAX - 1, NEW_SECRETS_NAMED_MAX, NEW_SECRETS_NAMED_MAX + 1])(
  "names NEW_SECRETS_NAMED_MAX of %d new secrets and counts all",
  (count) => {
    const keys = Object.fromEntries(Array.from({ length: count }, (_, at) => [`key_${at}`, "sk-1"]));
    const found = newSecretsOf(safeDefault(), withConfig(keys));
    expect([found.count, found.named.length]).toEqual([count, Math.min(count, NEW_SECRETS_NAMED_MAX)]);
  },
);
