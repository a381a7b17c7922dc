// Refusals of commands on the data directory: one message, the right exit code, and no change.

import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../src/platform/clock.ts";
import { lockForServer, openDataDirectory } from "../../src/platform/data-directory/data-directory.ts";
import { createInstallation, createWorkspace, type Workspace } from "../support/in-process.ts";

const INVITE = "users invite ana@example.org --role member --server-public-url https://qm.example.org";
const AT_PROVIDER = "--issuer https://id.example.org";
const UNKNOWN = "01940000-0000-7000-8000-ffffffffffff";

/** @returns reason and exit code of a failed command, from its JSON on stderr */
async function refusal(workspace: Workspace, line: string, stdin = ""): Promise<string> {
  const { stdout, stderr, exitCode } = await workspace.run(`${line} --json`, { stdin });
  expect(stdout).toBe("");
  const failure = JSON.parse(stderr);
  expect(failure.exit_code).toBe(exitCode);
  return `${failure.reason} ${exitCode}`;
}

const auditEntries = ({ data }: Workspace): number => {
  const db = new Database(join(data, "quartermaster.db"), { readonly: true });
  try {
    return db.query<{ total: number }, []>("SELECT count(*) AS total FROM audit_entries").get()?.total ?? 0;
  } finally {
    db.close();
  }
};

describe("data directory without an installation", () => {
  const lines = [
    "catalog list",
    "catalog verify",
    "users list",
    "invitations list",
    "logins revoke --all --yes",
    "signing-keys rotate --yes",
    "scim status",
    "scim tokens create okta",
    "groups list",
    "clients list",
    "clients revoke lab-14 --yes",
  ];

  test.each(lines)("%s fails and creates nothing", async (line) => {
    using workspace = createWorkspace();
    expect(await refusal(workspace, line)).toBe("data_dir.empty 3");
    mkdirSync(workspace.data, { mode: 0o700 });
    expect(await refusal(workspace, line)).toBe("data_dir.empty 3");
    expect([...new Bun.Glob("**").scanSync({ cwd: workspace.data, onlyFiles: false })]).toEqual([]);
  });
});

describe("an installation", () => {
  const cases: readonly [line: string, refused: string][] = [
    ["catalog show nothing", "catalog.not_found 3"],
    ["clients show nothing", "client.not_found 3"],
    ["clients remove nothing --yes", "client.not_found 3"],
    ["clients revoke nothing --yes", "client.not_found 3"],
    ["clients list --user nobody@example.org", "user.not_found 3"],
    ["clients list --stale 90", "usage.not_days 2"],
    ["sessions show nothing", "sessions.not_found 3"],
    ["sessions remove nothing --yes", "sessions.not_found 3"],
    ["sessions export nothing out.tgz", "sessions.not_found 3"],
    ["sessions hold nothing", "sessions.not_found 3"],
    ["sessions release nothing", "sessions.not_found 3"],
    ["sessions revoke nothing --yes", "sessions.not_found 3"],
    ["sessions revoke --yes", "usage.which_sessions 2"],
    ["sessions revoke --owner nobody@example.org --yes", "user.not_found 3"],
    ["sessions list --user nobody@example.org", "user.not_found 3"],
    ["sessions list --status lost", "usage.invalid_argument 2"],
    ["sessions list --updated-from 2026-02-30", "sessions.invalid 2"],
    ["catalog remove nothing --yes", "catalog.not_found 3"],
    ["catalog seed nothing.yaml", "file.missing 3"],
    ["catalog seed .", "file.not_regular 2"],
    ["catalog export .", "file.not_regular 2"],
    ["catalog export nowhere/out.yaml", "file.missing 3"],
    ["catalog export --bundle out.qmc", "bundle.no_key 4"],
    ["catalog export --bundle out.qmc --signing-key-file nothing.pem", "secret.unreadable 2"],
    ["catalog export out.yaml --bundle out.qmc", "usage.one_target 2"],
    ["catalog import in.qmc", "bundle.no_trust 2"],
    ["catalog import in.qmc --trust nothing.pub", "file.missing 3"],
    ["catalog show", "usage.missing_argument 2"],
    ["users show nobody@example.org", "user.not_found 3"],
    [`users show ${UNKNOWN}`, "user.not_found 3"],
    ["users create ana@example.org", "usage.missing_mandatory_option_value 2"],
    ["users create ana --role member", "identity.invalid 2"],
    ["users create ana@example.org --role owner", "usage.invalid_argument 2"],
    ["users create root@example.org --role member", "user.exists 4"],
    ["users create ana@example.org --role member --password-file none", "secret.unreadable 2"],
    ["users create ana@example.org --role member --password=hunter2hunter2", "usage.unknown_option 2"],
    ["users list --limit 0", "usage.not_a_number 2"],
    ["users list --limit 101", "usage.not_a_number 2"],
    ["users list --page x", "usage.not_a_number 2"],
    ["users list --role owner", "usage.invalid_argument 2"],
    ["users set-role root@example.org member --yes", "user.protected 4"],
    ["users set-role root@example.org member --dry-run", "user.protected 4"],
    ["users set-role root@example.org owner --dry-run", "identity.invalid 2"],
    ["users suspend root@example.org --dry-run", "user.protected 4"],
    ["users remove root@example.org --dry-run", "user.protected 4"],
    [
      "users invite root@example.org --role member --server-public-url https://qm.example.org",
      "user.exists 4",
    ],
    ["users invite ana@example.org --role member", "config.public_url_missing 2"],
    ["users invite ana@example.org --role member --server-listen 127.0.0.1:0", "config.public_url_missing 2"],
    [
      "users invite ana@example.org --role member --server-listen unix:/q.sock",
      "config.public_url_missing 2",
    ],
    ["users invite ana@example.org --role member --server-listen 0.0.0.0:80", "config.public_url_missing 2"],
    ["users password-link root@example.org --yes", "config.public_url_missing 2"],
    [
      "users password-link root@example.org --server-public-url https://qm.example.org",
      "confirmation.no_terminal 2",
    ],
    [
      "users password-link nobody@example.org --yes --server-public-url https://qm.example.org",
      "user.not_found 3",
    ],
    [`invitations show ${UNKNOWN}`, "invitation.not_found 3"],
    [`invitations cancel ${UNKNOWN} --yes`, "invitation.not_found 3"],
    [`invitations resend ${UNKNOWN}`, "invitation.not_found 3"],
    [`invitations regenerate ${UNKNOWN} --yes`, "invitation.not_found 3"],
    ["invitations list --status canceled", "usage.invalid_argument 2"],
    [`logins show ${UNKNOWN}`, "login.not_found 3"],
    [`logins revoke ${UNKNOWN} --yes`, "login.not_found 3"],
    ["logins revoke --user nobody@example.org --yes", "user.not_found 3"],
    ["logins revoke --yes", "usage.what_to_revoke 2"],
    [`logins revoke ${UNKNOWN} --all --yes`, "usage.what_to_revoke 2"],
    ["logins list --kind token", "usage.invalid_argument 2"],
    ["identities create root@example.org --subject s --yes", "identity.issuer_missing 2"],
    ["identities create root@example.org --yes", "usage.identity_options 2"],
    ["identities create --subject s --yes", "usage.identity_options 2"],
    ["identities create root@example.org --subject s --by email --yes", "usage.identity_options 2"],
    ["identities create --from-issuer https://id.example.org --yes", "usage.identity_options 2"],
    [
      "identities create root@example.org --from-issuer https://id.example.org --by email --yes",
      "usage.identity_options 2",
    ],
    [
      "identities create --subject s --from-issuer https://id.example.org --by email --yes",
      "usage.conflicting_option 2",
    ],
    [`identities create root@example.org --subject s ${AT_PROVIDER}`, "confirmation.no_terminal 2"],
    [`identities create root@example.org --subject= ${AT_PROVIDER} --dry-run`, "identity.subject_invalid 2"],
    [`identities create nobody@example.org --subject s ${AT_PROVIDER} --yes`, "user.not_found 3"],
    [
      "identities create root@example.org --subject s --issuer id.example.org --yes",
      "identity.issuer_invalid 2",
    ],
    ["identities remove root@example.org --yes", "identity.issuer_missing 2"],
    [`identities remove root@example.org ${AT_PROVIDER} --dry-run`, "identity.not_found 3"],
    ["identities list --user nobody@example.org", "user.not_found 3"],
    ["signing-keys rotate", "confirmation.no_terminal 2"],
    ["scim tokens create", "usage.missing_argument 2"],
    ["scim tokens create configured", "scim_token.invalid 2"],
    ["scim tokens create okta --profile okta", "usage.invalid_argument 2"],
    ["scim tokens create okta --expires tomorrow", "usage.not_a_time 2"],
    ["scim tokens create okta --expires 2026-02-30", "usage.not_a_time 2"],
    ["scim tokens create okta --expires 2026-06-30T24:61:00Z", "usage.not_a_time 2"],
    ["scim tokens create okta --expires 0d", "scim_token.invalid 2"],
    ["scim tokens create okta --expires 3651d", "scim_token.invalid 2"],
    ["scim tokens create okta --expires 2026-01-01", "scim_token.invalid 2"],
    ["scim tokens revoke nothing --yes", "scim_token.not_found 3"],
    ["scim tokens revoke nothing --dry-run", "scim_token.not_found 3"],
    ["scim tokens revoke configured --dry-run", "scim_token.configured 4"],
    ["groups show nothing", "scim_group.not_found 3"],
    ["groups list --limit 101", "usage.not_a_number 2"],
    ["users list --source entra", "usage.invalid_argument 2"],
    ["users reset-password root@example.org", "confirmation.no_terminal 2"],
  ];

  test.each(cases)("%s fails: %s", async (line, refused) => {
    using workspace = await createInstallation();
    const before = auditEntries(workspace);
    expect(await refusal(workspace, line, "y\n")).toBe(refused);
    expect(auditEntries(workspace)).toBe(before);
  });

  test.each([
    ["users create root@example.org --role member", "root@example.org", "users show USER"],
    ["users suspend root@example.org --yes", "protected administrator", "set bootstrap.admin_email"],
    [`invitations show ${UNKNOWN}`, UNKNOWN, "invitations list"],
    ["audit show last", '"last"', "audit list"],
    ["audit show 999", '"999"', "an earlier export"],
  ])("names what %s is about, and the next step", async (line, named, next) => {
    using workspace = await createInstallation();
    const { stderr } = await workspace.run(`${line} --json`);
    expect(JSON.parse(stderr)).toMatchObject({
      error: expect.stringContaining(named),
      hint: expect.stringContaining(next),
    });
  });

  test("rejects a second invitation of an address, and renewing a closed invitation", async () => {
    using workspace = await createInstallation();
    const { invitation } = await workspace.json(INVITE);
    const { id } = Object(invitation);
    expect(await refusal(workspace, INVITE)).toBe("invitation.pending 4");
    expect((await workspace.run(INVITE)).stderr).toContain("`quartermaster invitations resend ID`");
    await workspace.json(`invitations cancel ${id} --yes`);
    expect(await refusal(workspace, `invitations resend ${id}`)).toBe("invitation.closed 4");
    expect(
      await refusal(
        workspace,
        `invitations regenerate ${id} --dry-run --server-public-url https://qm.example.org`,
      ),
    ).toBe("invitation.closed 4");
  });

  test("rejects every change to a removed user", async () => {
    using workspace = await createInstallation();
    await workspace.json("users create ana@example.org --role member");
    await workspace.json("users remove ana@example.org --yes");
    for (const verb of ["suspend", "resume", "reset-password", "password-link"]) {
      const confirmed = verb === "resume" ? "" : " --yes";
      expect(await refusal(workspace, `users ${verb} ana@example.org${confirmed}`)).toBe("user.removed 4");
    }
    expect(await refusal(workspace, "users set-role ana@example.org admin --yes")).toBe("user.removed 4");
    expect(await workspace.json("logins revoke --user ana@example.org --yes")).toMatchObject({
      changed: false,
    });
  });

  test("names an unreadable sealing key", async () => {
    using workspace = await createInstallation();
    chmodSync(join(workspace.data, "keys/0001.sealing-key"), 0o644);
    expect(await refusal(workspace, "users list")).toBe("sealing.key_invalid 2");
  });

  test("does not change a database that is newer than the program", async () => {
    using workspace = await createInstallation();
    const db = new Database(join(workspace.data, "quartermaster.db"));
    db.run("INSERT INTO schema_migrations VALUES (9999, 'later', 'x', 0, '99.0.0')");
    db.close();
    for (const line of ["users list", "setup", "setup --dry-run"])
      expect(await refusal(workspace, line)).toBe("schema.newer 4");
  });
});

describe("setup", () => {
  const EMAIL = "--bootstrap-admin-email root@example.org";

  test("fails while a server uses the directory, but only if there is something to change", async () => {
    using workspace = createWorkspace();
    const lock = lockForServer(openDataDirectory(workspace.data), systemClock);
    expect(await refusal(workspace, `setup ${EMAIL}`)).toBe("data_dir.in_use 4");
    lock.release();
    await workspace.json(`setup ${EMAIL}`);
    const held = lockForServer(openDataDirectory(workspace.data), systemClock);
    expect(await workspace.json(`setup ${EMAIL}`)).toEqual({ changed: false, steps: [] });
    expect(await refusal(workspace, "setup --bootstrap-admin-email ana@example.org")).toBe(
      "data_dir.in_use 4",
    );
    held.release();
  });

  test("a dry run creates nothing, not even the directory", async () => {
    using workspace = createWorkspace();
    const { steps } = await workspace.json(`setup ${EMAIL} --dry-run`);
    expect(steps).toHaveLength(6);
    expect([...new Bun.Glob("**").scanSync({ cwd: workspace.folder, onlyFiles: false })]).toEqual([]);
  });

  test("creates a complete installation with the printed password, and leaves no steps for a later dry run", async () => {
    using workspace = createWorkspace();
    const { password } = await workspace.json(`setup ${EMAIL}`);
    expect(password).toBeString();
    expect(await workspace.json(`setup ${EMAIL} --dry-run`)).toEqual({ dry_run: true, steps: [] });
  });

  test("uses a configured password without printing it, and rejects a short one before creating anything", async () => {
    using workspace = createWorkspace();
    const file = join(workspace.folder, "password");
    writeFileSync(file, "short\n", { mode: 0o600 });
    expect(await refusal(workspace, `setup ${EMAIL} --bootstrap-admin-password-file password`)).toBe(
      "config.invalid 2",
    );
    writeFileSync(file, "correct horse battery\n", { mode: 0o600 });
    const made = await workspace.run(`setup ${EMAIL} --bootstrap-admin-password-file password`);
    expect(made.exitCode).toBe(0);
    expect(made.stdout + made.stderr).not.toContain("correct horse");
    rmSync(file);
  });

  test("makes another address the protected administrator, and unprotects the previous one", async () => {
    using workspace = await createInstallation();
    await workspace.json("setup --bootstrap-admin-email ana@example.org");
    const { items } = await workspace.json("users list --role admin");
    expect(items).toMatchObject([
      { email: "ana@example.org", protected: true },
      { email: "root@example.org", protected: false },
    ]);
  });
});

test("control characters in a catalog file never reach the terminal", async () => {
  using workspace = await createInstallation();
  const text = `[{"id":"one","version":"1\\u001b[31m","source_ref":"https://example.com/a","sha256":"${"a".repeat(64)}"}]`;
  writeFileSync(join(workspace.folder, "c.yaml"), text);
  const { stderr, exitCode } = await workspace.run("catalog seed c.yaml");
  expect(exitCode).toBe(2);
  expect(stderr).not.toContain("\u001b");
});
