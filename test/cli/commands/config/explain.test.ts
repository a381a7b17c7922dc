// Proposals of `config explain` for an unknown name.
import { expect, test } from "bun:test";
import { SPELLING_LENGTH_MAX } from "../../../../cli/commands/config/explain.ts";
import { createWorkspace } from "../../../support/in-process.ts";

const SHOW = "see `quartermaster config show`";

async function hintFor(spelling: string): Promise<string | undefined> {
  using workspace = createWorkspace();
  const { stderr, exitCode } = await workspace.run(`config explain ${spelling}`);
  expect(exitCode).toBe(3);
  return /^hint: +(.*)$/m.exec(stderr)?.[1];
}

test.each([
  ["server.lisen", "did you mean server.listen?"],
  ["listen", "did you mean server.listen or gateway.proxy.listen?"],
  ["QUARTERMASTER_SERVER_LISTENS", "did you mean QUARTERMASTER_SERVER_LISTEN?"],
  ["server", "server is a section; `quartermaster config show` lists its settings"],
  ["zzzzz", SHOW],
])("CLI-14 config explain %s has the hint: %s", async (spelling, hint) => {
  expect(await hintFor(spelling)).toBe(hint);
});

test("a spelling is compared up to SPELLING_LENGTH_MAX characters", async () => {
  const longest = "QUARTERMASTER_GATEWAY_PROVISIONER_POLICY_MAX_PARALLEL_REQUESTS";
  const hints = [-1, 0, 1].map((step) => hintFor(longest.padEnd(SPELLING_LENGTH_MAX + step, "S")));
  expect(await Promise.all(hints)).toEqual([`did you mean ${longest}?`, `did you mean ${longest}?`, SHOW]);
});
