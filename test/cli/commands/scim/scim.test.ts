// Commands for tokens of identity providers: a token is shown once and is valid until it is revoked or expires, with or without a
// running service. golden/scim.txt has the exact output.
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ScimError } from "../../../../src/domain/scim/errors.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/platform/clock.ts";
import { createInstallation, type Workspace } from "../../../support/in-process.ts";
import { inInstallation } from "../../../support/installed/installed-login.ts";
import { presentOn } from "../../../support/installed/installed-provisioning.ts";

/** @returns the label of the token that authenticates a request, or 401 */
const heard = (workspace: Workspace, token: string): Promise<string | number> =>
  inInstallation(workspace, async ({ domain }) => {
    try {
      return domain.scim.tokens.check.authenticate(token).actor.label;
    } catch (error) {
      if (error instanceof ScimError) return error.status;
      throw error;
    }
  });

const make = async (workspace: Workspace, line: string): Promise<string> =>
  String((await workspace.json(`scim tokens create ${line}`)).token);

test("prints only a new token to stdout, and never prints it again", async () => {
  using workspace = await createInstallation();
  const made = await workspace.run("scim tokens create okta");
  const token = made.stdout.trimEnd();
  expect(token).toMatch(/^qms_[\w-]{51}$/);
  expect(made.stderr).not.toContain(token);
  expect(await heard(workspace, token)).toBe("scim:okta");
  const lines = ["scim tokens list --all --wide", "scim tokens list --json", "scim status --json"];
  const revoking = ["scim tokens revoke okta --dry-run", "scim tokens revoke okta --yes --json"];
  for (const line of [...lines, ...revoking, ...lines]) {
    const { stdout, stderr, exitCode } = await workspace.run(line);
    expect(exitCode).toBe(0);
    expect(stdout + stderr).not.toContain(token.slice(0, 13));
  }
  const files = readdirSync(workspace.data).filter((name) => name.startsWith("quartermaster.db"));
  const atRest = files.map((name) => readFileSync(join(workspace.data, name), "latin1")).join("");
  expect(atRest).toContain("scim_token.create");
  expect(atRest).not.toContain(token.slice(0, 13));
});

test("revokes a token by label or id, and keeps others valid", async () => {
  using workspace = await createInstallation();
  const [one, two, three] = [
    await make(workspace, "one"),
    await make(workspace, "two"),
    await make(workspace, "three"),
  ];
  const { items } = await workspace.json("scim tokens list");
  const [, second] = Array.isArray(items) ? items : [];
  expect(second.label).toBe("two");
  expect(await workspace.json("scim tokens revoke one --yes")).toMatchObject({ changed: true });
  expect(await workspace.json(`scim tokens revoke ${second.id} --yes`)).toMatchObject({ changed: true });
  expect(await workspace.json(`scim tokens revoke ${second.id}`)).toMatchObject({ changed: false });
  expect([await heard(workspace, one), await heard(workspace, two), await heard(workspace, three)]).toEqual([
    401,
    401,
    "scim:three",
  ]);
});

test("a dry run and an unanswered question revoke nothing", async () => {
  using workspace = await createInstallation();
  const token = await make(workspace, "okta");
  expect(await workspace.json("scim tokens revoke okta --dry-run")).toMatchObject({ dry_run: true });
  expect((await workspace.run("scim tokens revoke okta", { stdin: "y\n" })).exitCode).toBe(2);
  expect(await heard(workspace, token)).toBe("scim:okta");
});

test("a token is valid until it expires, in every time format, and is then listed as expired", async () => {
  using workspace = await createInstallation();
  const lives: readonly [expires: string, lifeMs: number][] = [
    ["2d", 2 * DAY_MS],
    ["2026-01-03", 2 * DAY_MS],
    ["2026-01-03T02:00:00+02:00", 2 * DAY_MS],
    ["2026-01-01T01:00:00.500Z", HOUR_MS + 500],
  ];
  const tokens: string[] = [];
  for (const [index, [expires]] of lives.entries())
    tokens.push(await make(workspace, `t${index} --expires ${expires}`));
  const { items } = await workspace.json("scim tokens list");
  const expiries = Array.isArray(items) ? items.map(({ expires_at }) => Date.parse(expires_at)) : [];
  expect(expiries.toReversed()).toEqual(lives.map(([, lifeMs]) => workspace.clock.nowMs() + lifeMs));
  workspace.clock.advance(2 * DAY_MS - 1);
  for (const [index, token] of tokens.entries())
    expect(await heard(workspace, token)).toBe(index === 3 ? 401 : `scim:t${index}`);
  workspace.clock.advance(1);
  for (const token of tokens) expect(await heard(workspace, token)).toBe(401);
  expect((await workspace.run("scim tokens list")).stdout.match(/ expired /g)).toHaveLength(4);
  expect((await workspace.run("scim status")).stderr).toContain("no token is active");
});

test("lists the token of the configuration as configured, with its last use, without the secret", async () => {
  using workspace = await createInstallation();
  const file = join(workspace.folder, "token");
  writeFileSync(file, "configured-secret\n", { mode: 0o600 });
  await presentOn(workspace, file, "configured-secret");
  const { stdout, stderr } = await workspace.run("scim tokens list --scim-token-file token --wide");
  expect(stdout).toMatch(/^configured +active +standard +- +2026-01-01T00:00:00.000Z +- +configured /m);
  expect(stderr).toBe("");
  const unset = await workspace.run("scim tokens list");
  expect(unset.stdout).toMatch(/^configured +unset /m);
  expect(unset.stderr).toContain("--config");
  for (const { stdout, stderr } of [unset, await workspace.run("scim status --scim-token-file token")])
    expect(stdout + stderr).not.toContain("configured-secret");
});

test("status reports a group mapping that has no effect", async () => {
  using workspace = await createInstallation();
  const mapped = `--scim-group-role-mappings ${JSON.stringify({ Admins: "admin" })}`;
  const { stderr, exitCode } = await workspace.run(`scim status ${mapped}`);
  expect(stderr).toContain("Admins");
  expect(exitCode).toBe(0);
  expect((await workspace.json(`scim status ${mapped}`)).warnings).toContainEqual(
    expect.stringContaining("Admins"),
  );
});
