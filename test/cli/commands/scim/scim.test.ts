// Commands for tokens of identity providers: a token is shown once and is valid until it is revoked or expires, with or without a
// running service. golden/scim.txt has the exact output.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ScimError } from "../../../../src/domain/scim/errors.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/platform/clock.ts";
import { type Bench, createInstallation } from "../../../support/in-process.ts";
import { inInstallation } from "../../../support/installed/installed-login.ts";
import { presentOn } from "../../../support/installed/installed-provisioning.ts";

/** @returns the label of the token that authenticates a request, or 401 */
const heard = (bench: Bench, token: string): Promise<string | number> =>
  inInstallation(bench, async ({ domain }) => {
    try {
      return domain.scim.tokens.check.authenticate(token).actor.label;
    } catch (error) {
      if (error instanceof ScimError) return error.status;
      throw error;
    }
  });

const make = async (bench: Bench, line: string): Promise<string> =>
  String((await bench.json(`scim tokens create ${line}`)).token);

test("prints only a new token to stdout, and never prints it again", async () => {
  using bench = await createInstallation();
  const made = await bench.run("scim tokens create okta");
  const token = made.stdout.trimEnd();
  expect(token).toMatch(/^qms_[\w-]{51}$/);
  expect(made.stderr).not.toContain(token);
  expect(await heard(bench, token)).toBe("scim:okta");
  const lines = ["scim tokens list --all --wide", "scim tokens list --json", "scim status --json"];
  const revoking = ["scim tokens revoke okta --dry-run", "scim tokens revoke okta --yes --json"];
  for (const line of [...lines, ...revoking, ...lines]) {
    const { stdout, stderr, exitCode } = await bench.run(line);
    expect(exitCode).toBe(0);
    expect(stdout + stderr).not.toContain(token.slice(0, 13));
  }
  const files = readdirSync(bench.data).filter((name) => name.startsWith("quartermaster.db"));
  const atRest = files.map((name) => readFileSync(join(bench.data, name), "latin1")).join("");
  expect(atRest).toContain("scim_token.create");
  expect(atRest).not.toContain(token.slice(0, 13));
});

test("revokes a token by label or id, and keeps others valid", async () => {
  using bench = await createInstallation();
  const [one, two, three] = [await make(bench, "one"), await make(bench, "two"), await make(bench, "three")];
  const { items } = await bench.json("scim tokens list");
  const [, second] = Array.isArray(items) ? items : [];
  expect(second.label).toBe("two");
  expect(await bench.json("scim tokens revoke one --yes")).toMatchObject({ changed: true });
  expect(await bench.json(`scim tokens revoke ${second.id} --yes`)).toMatchObject({ changed: true });
  expect(await bench.json(`scim tokens revoke ${second.id}`)).toMatchObject({ changed: false });
  expect([await heard(bench, one), await heard(bench, two), await heard(bench, three)]).toEqual([
    401,
    401,
    "scim:three",
  ]);
});

test("a dry run and an unanswered question revoke nothing", async () => {
  using bench = await createInstallation();
  const token = await make(bench, "okta");
  expect(await bench.json("scim tokens revoke okta --dry-run")).toMatchObject({ dry_run: true });
  expect((await bench.run("scim tokens revoke okta", { stdin: "y\n" })).exitCode).toBe(2);
  expect(await heard(bench, token)).toBe("scim:okta");
});

test("a token is valid until it expires, in every time format, and is then listed as expired", async () => {
  using bench = await createInstallation();
  const lives: readonly [expires: string, lifeMs: number][] = [
    ["2d", 2 * DAY_MS],
    ["2026-01-03", 2 * DAY_MS],
    ["2026-01-03T02:00:00+02:00", 2 * DAY_MS],
    ["2026-01-01T01:00:00.500Z", HOUR_MS + 500],
  ];
  const tokens: string[] = [];
  for (const [index, [expires]] of lives.entries())
    tokens.push(await make(bench, `t${index} --expires ${expires}`));
  const { items } = await bench.json("scim tokens list");
  const expiries = Array.isArray(items) ? items.map(({ expires_at }) => Date.parse(expires_at)) : [];
  expect(expiries.toReversed()).toEqual(lives.map(([, lifeMs]) => bench.clock.nowMs() + lifeMs));
  bench.clock.advance(2 * DAY_MS - 1);
  for (const [index, token] of tokens.entries())
    expect(await heard(bench, token)).toBe(index === 3 ? 401 : `scim:t${index}`);
  bench.clock.advance(1);
  for (const token of tokens) expect(await heard(bench, token)).toBe(401);
  expect((await bench.run("scim tokens list")).stdout.match(/ expired /g)).toHaveLength(4);
  expect((await bench.run("scim status")).stderr).toContain("no token is active");
});

test("lists the token of the configuration as configured, with its last use, without the secret", async () => {
  using bench = await createInstallation();
  const file = join(bench.folder, "token");
  writeFileSync(file, "configured-secret\n", { mode: 0o600 });
  await presentOn(bench, file, "configured-secret");
  const { stdout, stderr } = await bench.run("scim tokens list --scim-token-file token --wide");
  expect(stdout).toMatch(/^configured +active +standard +- +2026-01-01T00:00:00.000Z +- +configured /m);
  expect(stderr).toBe("");
  const unset = await bench.run("scim tokens list");
  expect(unset.stdout).toMatch(/^configured +unset /m);
  expect(unset.stderr).toContain("--config");
  for (const { stdout, stderr } of [unset, await bench.run("scim status --scim-token-file token")])
    expect(stdout + stderr).not.toContain("configured-secret");
});

test("status reports a group mapping that has no effect", async () => {
  using bench = await createInstallation();
  const mapped = `--scim-group-role-mappings ${JSON.stringify({ Admins: "admin" })}`;
  const { stderr, exitCode } = await bench.run(`scim status ${mapped}`);
  expect(stderr).toContain("Admins");
  expect(exitCode).toBe(0);
  expect((await bench.json(`scim status ${mapped}`)).warnings).toContainEqual(
    expect.stringContaining("Admins"),
  );
});
