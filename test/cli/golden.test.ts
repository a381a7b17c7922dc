// Compares the exact output of every command on the data directory, as text and JSON, with the files in golden/.
import { Database } from "bun:sqlite";
import { test } from "bun:test";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dayOf } from "../../src/domain/inference/usage/model.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/platform/clock.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { expectGolden, type Step } from "../support/cli/golden.ts";
import { tarFile, tarGzOf } from "../support/content/tar.ts";
import { createInstallation, createWorkspace, runHere, type Workspace } from "../support/in-process.ts";
import { rowOf } from "../support/inference/request-rows.ts";
import { publishOn, reportOn } from "../support/installed/installed-clients.ts";
import { createInstalledGateway } from "../support/installed/installed-gateway.ts";
import { rewrapOn, runJobsOn } from "../support/installed/installed-jobs.ts";
import { addFactorOn, guessOn, inviteOn, logInOn } from "../support/installed/installed-login.ts";
import { beginPolicyOn } from "../support/installed/installed-policy.ts";
import { presentOn, provisionOn } from "../support/installed/installed-provisioning.ts";
import { logOn, useOn, userOn } from "../support/installed/installed-requests.ts";
import { captureOn, leaveObject, shareOn } from "../support/installed/installed-sessions.ts";
import { makeOlder } from "../support/installed/older-installation.ts";
import { createListeningServer } from "../support/network/listening-server.ts";
import { START_MS } from "../support/world.ts";

const EXAMPLE = join(import.meta.dir, "../../src/domain/catalog/example");

/** Replaces key ids: they are thumbprints of random keys. */
const KEY_ID = /(?<![\w-])[\w-]{43}(?![\w-])(?<!=[\w-]{43})/g;

const NEW_KEY_ID = "<key id, 43 characters long, of a new pair>";
/** Replaces ids at the gateway: they are digests of random keys. */
const EXTERNAL_ID = /(?<![\w-])[0-9a-f]{64}(?![\w-])/g;

const replacements = ({ folder }: Workspace) => new Map<string | RegExp, string>([[folder, "<folder>"]]);

/** Runs the command lines in order on the same installation. */
async function transcript(workspace: Workspace, lines: readonly string[]): Promise<Step[]> {
  const steps: Step[] = [];
  for (const line of lines) steps.push({ line, ...(await workspace.run(line)) });
  return steps;
}

function addCatalog({ folder }: Workspace): void {
  cpSync(EXAMPLE, folder, { recursive: true });
  const text = "- {id: one, version: '2', source_ref: https://example.com/one.tar.gz, sha256: DIGEST}\n";
  writeFileSync(join(folder, "short.yaml"), text.replace("DIGEST", "a".repeat(64)));
  writeFileSync(join(folder, "shorter.yaml"), text.replace("DIGEST", "b".repeat(64)).replace("'2'", "'3'"));
}

test("setup", async () => {
  using workspace = createWorkspace();
  const email = "--bootstrap-admin-email root@example.org";
  const lines = [
    `setup ${email} --dry-run`,
    `setup ${email} --dry-run --json`,
    `setup ${email}`,
    `setup ${email}`,
  ];
  const more = [
    `setup ${email} --json`,
    `setup ${email} --dry-run`,
    "setup --bootstrap-admin-email ana@example.org --json",
  ];
  expectGolden(
    "setup",
    await transcript(workspace, [...lines, ...more]),
    replacements(workspace).set(/schema \d+/g, "schema N"),
  );
});

/** Cuts the list of settings after the first ones. */
const SETTINGS_CUT = new Map<string | RegExp, string>([
  [/^(SETTING .*\ndata_dir .*\n)(?:.+\n)+/gm, "$1…\n"],
  [/(\{\n {6}"key": "data_dir"[^}]*\}),[^\]]*\]/g, "$1,\n    …\n  ]"],
  [`bun ${Bun.version}`, "bun <version>"],
  [/(schema"?:? +)\d+/g, "$1N"],
]);

test("config and version, without a data directory", async () => {
  using workspace = createWorkspace();
  writeFileSync(join(workspace.folder, "wrong.yaml"), "server:\n  lisen: x\n");
  const moved = `control_api:
  database_url: postgres://user:password@db/x
  listen: 127.0.0.1:9000
  auth: {audience: "https://control.example.com", issuer: "https://control.example.com/api/auth"}
`;
  writeFileSync(join(workspace.folder, "moved.yaml"), moved);
  writeFileSync(join(workspace.folder, "both.yaml"), `${moved}server: {listen: "127.0.0.1:8080"}\n`);
  for (const [name, mode] of [
    ["empty.crt", 0o644],
    ["open.key", 0o644],
  ] as const)
    writeFileSync(join(workspace.folder, name), "", { mode });
  const steps = await transcript(workspace, [
    "config show",
    "config show --json",
    "config show --outgoing",
    "config show --outgoing --json",
    "config check",
    "config check --json",
    "config check --config wrong.yaml",
    "config check --config wrong.yaml --json",
    "config check --config moved.yaml",
    "config check --config both.yaml",
    "config explain server.listen --config moved.yaml",
    "config check --server-listen 0.0.0.0:8080",
    "config check --server-tls-cert missing.crt --server-tls-key missing.key",
    "config check --server-tls-cert empty.crt --server-tls-key open.key",
    "config check --server-listen 0.0.0.0:8080 --server-tls-cert empty.crt --server-tls-key missing.key --json",
    "config explain server.listen",
    "config explain QUARTERMASTER_SERVER_TLS_CERT --json",
    "config explain scim.token",
    "config explain server.lisen",
    "config explain server.lisen --json",
  ]);
  const versions = [];
  for (const line of ["version", "version --json"])
    versions.push({ line, ...(await runHere(line.split(" "), { cwd: workspace.folder })) });
  expectGolden("config", [...steps, ...versions], new Map([...replacements(workspace), ...SETTINGS_CUT]));
});

test("catalog", async () => {
  using workspace = await createInstallation();
  addCatalog(workspace);
  const steps = await transcript(workspace, [
    "catalog list",
    "catalog seed catalog.yaml --dry-run",
    "catalog seed catalog.yaml --dry-run --json",
    "catalog seed catalog.yaml",
    "catalog seed catalog.yaml",
    "catalog seed catalog.yaml --json",
    "catalog list",
    "catalog list --wide",
    "catalog show review-guide",
    "catalog show review-guide --json",
    "catalog verify",
    "catalog verify --json",
    "catalog upload review-guide-1.2.0.tar.gz",
    "catalog upload review-guide-1.2.0.tar.gz --json",
    "catalog upload catalog.yaml",
    "catalog upload nothing.tar.gz",
    "catalog export -",
    "catalog export out.yaml",
    "catalog seed out.yaml --prune",
    "catalog seed short.yaml --json",
    "catalog seed shorter.yaml",
    "catalog seed shorter.yaml --prune",
    "catalog seed shorter.yaml --prune --dry-run",
    "catalog remove ticket-cli",
    "catalog remove ticket-cli --dry-run",
    "catalog remove ticket-cli --dry-run --json",
    "catalog remove ticket-cli --yes",
    "catalog remove ticket-cli --yes",
    "catalog remove audit-hooks --yes --json",
    "catalog seed shorter.yaml --prune --yes",
    "catalog list --json",
    "catalog export - --json",
    "catalog export out.yaml --json",
  ]);
  expectGolden("catalog", steps, replacements(workspace));
});

test("harnesses", async () => {
  using workspace = await createInstallation();
  const head = "format: quartermaster-harnesses/1\nharnesses:\n";
  writeFileSync(join(workspace.folder, "agents.yaml"), `${head}  codex: {verified_before: 9.0.0-0}\n`);
  writeFileSync(join(workspace.folder, "bad.yaml"), `${head}  codex: {verified_before: 0.1.0}\n  kimi: {}\n`);
  const before = await transcript(workspace, ["harnesses sign agents.yaml"]);
  const key = await workspace.run("catalog bundle-key");
  writeFileSync(join(workspace.folder, "home.pub"), key.stdout);
  const settings = "--harnesses-file agents.yaml --harnesses-trust home.pub";
  const steps = await transcript(workspace, [
    "harnesses sign agents.yaml",
    "harnesses sign agents.yaml --json",
    "harnesses check agents.yaml",
    "harnesses check agents.yaml --trust home.pub --json",
    "harnesses check bad.yaml",
    "harnesses list",
    `harnesses list ${settings}`,
    "harnesses list --json",
  ]);
  const signers = replacements(workspace).set(/\b[0-9a-f]{64}\b/g, "<digest>");
  expectGolden("harnesses", [...before, ...steps], signers);
});

test("catalog bundles", async () => {
  using workspace = await createInstallation();
  using other = await createInstallation();
  const hooks = tarGzOf(tarFile("hooks/start.sh", "npx tool"));
  for (const { folder } of [workspace, other]) writeFileSync(join(folder, "hooks.tar.gz"), hooks);
  const entry = { id: "hooks", version: "1", source_ref: "hooks.tar.gz", sha256: sha256Hex(hooks) };
  writeFileSync(join(workspace.folder, "catalog.json"), JSON.stringify([entry]));
  writeFileSync(join(other.folder, "own.json"), JSON.stringify([{ ...entry, id: "own" }]));
  await workspace.json("catalog seed catalog.json");
  const first = await transcript(workspace, ["catalog export --bundle out.qmc", "catalog bundle-key"]);
  writeFileSync(join(other.folder, "home.pub"), first[1]?.stdout ?? "");
  const exported = await transcript(workspace, [
    "catalog bundle-key",
    "catalog bundle-key --json",
    "catalog export --bundle out.qmc",
    "catalog export --bundle out.qmc --json",
    "catalog export",
    "catalog export out.yaml --bundle out.qmc",
  ]);
  cpSync(join(workspace.folder, "out.qmc"), join(other.folder, "in.qmc"));
  await other.json("catalog seed own.json");
  const [own] = JSON.parse((await other.run("catalog export - --json")).stdout).package_catalog.packages;
  const policy = { revision: "any", allowed_harnesses: ["codex"], packages: [own] };
  writeFileSync(join(other.folder, "policy.json"), JSON.stringify(policy));
  await beginPolicyOn(other);
  await other.json("policy apply policy.json --yes");
  const imported = await transcript(other, [
    "catalog import in.qmc",
    "catalog import in.qmc --trust home.pub",
    "catalog import in.qmc --trust home.pub --dry-run",
    "catalog import in.qmc --trust home.pub --dry-run --json",
    "catalog import in.qmc --trust home.pub --keep",
    "catalog import in.qmc --trust home.pub --yes",
    "catalog import in.qmc --trust home.pub --allow-dangling",
    "catalog import in.qmc --trust home.pub --allow-dangling --yes",
    "catalog import in.qmc --trust home.pub",
    "catalog import in.qmc --trust home.pub --json",
    "catalog import home.pub --trust home.pub",
    "catalog import in.qmc --trust in.qmc",
  ]);
  const hidden = replacements(workspace)
    .set(other.folder, "<other folder>")
    .set(/^[A-Za-z0-9+/=]{60}$/gm, "<key>")
    .set(/\\n[A-Za-z0-9+/=]{60}\\n/g, "\\n<key>\\n")
    .set(/(?<=(?:signed by|key|"signer":|"key_id":) "?)[0-9a-f]{64}/g, "<key id>");
  expectGolden("catalog-bundles", [...first, ...exported, ...imported], hidden);
});

test("catalog verify with a missing and a damaged archive", async () => {
  using workspace = await createInstallation();
  addCatalog(workspace);
  await workspace.run("catalog seed catalog.yaml");
  const digest = "fb5c2dea998a0ea6d5b6255c9785f4daa6c86ceedf2b9780183ae5d4ccc37228";
  const blob = join(workspace.data, "artifacts/sha256/fb", digest);
  writeFileSync(blob, "x");
  const damaged = await transcript(workspace, ["catalog verify", "catalog verify --json"]);
  rmSync(blob);
  const missing = await transcript(workspace, [
    "catalog verify",
    "catalog seed catalog.yaml",
    "catalog verify",
  ]);
  expectGolden("catalog-verify", [...damaged, ...missing], replacements(workspace));
});

test("catalog verify warns about a stored archive that violates the rules for new archives", async () => {
  using workspace = await createInstallation();
  const bytes = tarGzOf(tarFile("Readme"), tarFile("README"));
  const digest = sha256Hex(bytes);
  mkdirSync(join(workspace.data, "artifacts/sha256", digest.slice(0, 2)), { recursive: true });
  writeFileSync(join(workspace.data, "artifacts/sha256", digest.slice(0, 2), digest), bytes);
  using database = new Database(join(workspace.data, "quartermaster.db"));
  database.run(
    "INSERT INTO artifacts (id, organization_id, sha256, size_bytes, entries, expanded_bytes, created_at_ms) SELECT ?, id, ?, ?, 2, 2048, 0 FROM organizations",
    [crypto.randomUUID(), digest, bytes.length],
  );
  const steps = await transcript(workspace, ["catalog verify", "catalog verify --json"]);
  expectGolden("catalog-verify-outdated", steps, replacements(workspace));
});

/** The three verbs that take the role from an administrator who has sent invitations. */
async function withdrawing(workspace: Workspace): Promise<Step[]> {
  const steps: Step[] = [];
  for (const verb of [
    "set-role dora@example.org member",
    "suspend eli@example.org",
    "remove fay@example.org",
  ]) {
    const [, email = ""] = verb.split(" ");
    await workspace.run(`users create ${email} --role admin`);
    await inviteOn(workspace, { inviter: email, emails: [`one-${email}`, `two-${email}`] });
    steps.push(...(await transcript(workspace, [`users ${verb} --dry-run`, `users ${verb} --yes --json`])));
  }
  return steps;
}

test("users", async () => {
  using workspace = await createInstallation();
  writeFileSync(join(workspace.folder, "password"), "correct horse battery\n", { mode: 0o600 });
  const steps = await transcript(workspace, [
    "users create Ana@example.org --role member",
    "users create bob@example.org --role admin --password-file password",
    "users create carl@example.org --role member --json",
    "users list",
    "users list --wide",
    "users list --role admin --json",
    "users list --status suspended",
    "users show ana@example.org",
    "users show ANA@example.org --json",
    "users set-role ana@example.org admin",
    "users set-role ana@example.org admin --dry-run",
    "users set-role ana@example.org admin --yes",
    "users set-role ana@example.org admin",
    "users set-role ana@example.org member --yes --json",
    "users suspend ana@example.org --dry-run --json",
    "users suspend ana@example.org --yes",
    "users suspend ana@example.org --json",
    "users resume ana@example.org",
    "users resume ana@example.org",
    "users unlock ana@example.org",
    "users reset-password ana@example.org --dry-run",
    "users reset-password ana@example.org --yes",
    "users reset-password ana@example.org --yes --password-file password --json",
    "users password-link ana@example.org --dry-run --server-public-url https://qm.example.org",
    "users password-link ana@example.org --yes --server-public-url https://qm.example.org",
    "users password-link ana@example.org --yes --json --server-public-url https://qm.example.org",
    "users remove ana@example.org --dry-run",
    "users remove ana@example.org --yes",
    "users remove ana@example.org",
    "users list --status removed",
    "users list --source scim",
    "users suspend carl@example.org --yes",
    "users resume carl@example.org --json",
    "users remove carl@example.org --yes --json",
    "users erase ana@example.org --dry-run",
    "users erase ana@example.org",
    "users erase ana@example.org --confirm bob@example.org",
    "users erase ana@example.org --confirm ana@example.org",
    "users erase ana@example.org --confirm ana@example.org",
    "users erase bob@example.org --dry-run",
    "users erase carl@example.org --confirm carl@example.org --json",
  ]);
  steps.push(...(await withdrawing(workspace)));
  await guessOn(workspace, "bob@example.org");
  const unlocking = ["users unlock bob@example.org", "users unlock bob@example.org --json"];
  steps.push(...(await transcript(workspace, unlocking)));
  const many = "dora@example.org eli@example.org root@example.org";
  const changing = [
    `users change suspend ${many} --dry-run`,
    `users change suspend ${many} --yes`,
    "users change resume --status suspended --q dora --yes --json",
    "users change end_logins --q nobody --yes",
    "users change explode dora@example.org",
    "users change suspend --yes",
    "users change suspend dora@example.org --all --yes",
    "users change make_member --all --dry-run",
    "users list --workstations none --not-seen-for-days 30",
    "users list --group nobody --not-seen-for-days 30",
    "users change end_logins --not-seen-for-days 0 --yes",
  ];
  steps.push(...(await transcript(workspace, changing)));
  await addFactorOn(workspace, "bob@example.org");
  const resetting = [
    "users reset-second-factor bob@example.org",
    "users reset-second-factor bob@example.org --dry-run",
    "users reset-second-factor bob@example.org --yes --json",
    "users reset-second-factor bob@example.org",
  ];
  steps.push(...(await transcript(workspace, resetting)));
  expectGolden("users", steps, replacements(workspace));
});

test("organization", async () => {
  using workspace = await createInstallation();
  const steps = await transcript(workspace, [
    "organization show",
    "organization show --json",
    "organization rename Example",
    "organization rename Example --dry-run",
    "organization rename Example --yes",
    "organization rename Example",
    "organization rename Example --json",
    "organization rename Other --yes --json",
    `organization rename ${"n".repeat(201)}`,
  ]);
  expectGolden("organization", steps, replacements(workspace));
});

test("views", async () => {
  using workspace = await createInstallation();
  await workspace.json("users create ben@example.org --role member");
  const root = "root@example.org";
  const steps = await transcript(workspace, [
    `views list ${root}`,
    `views create ${root} Administrators /console/users?role=admin&page=3&columns=-source --shared`,
    `views create ${root} Lost /console/clients?stale=true --json`,
    `views columns ${root} /console/users?role=admin&columns=-source&per_page=50`,
    `views list ${root}`,
    `views list ${root} --json`,
    "views create ben@example.org Mine /console/me/logins?kind=grant --shared",
    `views create ${root} Lost https://example.com/console/clients`,
    `views columns ${root} /console/users --json`,
    `views remove ${root} 01940000-0000-7000-8000-00000000ffff`,
  ]);
  const { items } = await workspace.json(`views list ${root}`);
  const [{ id = "" } = {}]: { id?: string }[] = Array.isArray(items) ? items : [];
  steps.push(
    ...(await transcript(workspace, [
      `views remove ben@example.org ${id} --yes`,
      `views remove ${root} ${id}`,
      `views remove ${root} ${id} --dry-run`,
      `views remove ${root} ${id} --yes --json`,
      `views remove ${root} ${id} --yes`,
    ])),
  );
  expectGolden("views", steps, replacements(workspace));
});

test("branding", async () => {
  using workspace = await createInstallation();
  const image = '<svg xmlns="http://www.w3.org/2000/svg"></svg>';
  writeFileSync(join(workspace.folder, "logo.svg"), image);
  writeFileSync(join(workspace.folder, "page.svg"), image.replace("svg xmlns", "html xmlns"));
  const origin = "--server-public-url https://qm.example.org";
  const steps = await transcript(workspace, [
    "branding show",
    "branding show --json",
    "branding apply --logo-url http://example.org/logo.svg --yes",
    "branding apply --logo-url https://example.org/logo.svg --dry-run",
    "branding apply --logo-url https://example.org/logo.svg --yes",
    "branding apply --logo-url https://example.org/logo.svg",
    "branding apply --icon-url https://example.org/icon.svg --yes --json",
    "branding upload banner logo.svg --yes",
    "branding upload icon page.svg --yes",
    "branding upload icon none.svg --yes",
    "branding upload icon logo.svg --yes",
    `branding upload icon logo.svg ${origin} --dry-run`,
    `branding upload icon logo.svg ${origin} --yes`,
    `branding upload logo logo.svg ${origin} --yes --json`,
    "branding show",
  ]);
  expectGolden("branding", steps, replacements(workspace));
});

test("invitations", async () => {
  using workspace = await createInstallation();
  const origin = "--server-public-url https://qm.example.org";
  const invited = await transcript(workspace, [
    "invitations list",
    "users invite ana@example.org --role member",
    "users invite ana@example.org --role member --server-public-url https://qm.example.org",
    "users invite bob@example.org --role admin --server-public-url https://qm.example.org --json",
  ]);
  const { items } = await workspace.json("invitations list --q ana");
  const id = Array.isArray(items) ? items[0].id : "";
  const steps = await transcript(workspace, [
    "invitations list",
    "invitations list --wide",
    "invitations list --status outstanding --role admin --json",
    `invitations show ${id}`,
    `invitations show ${id} --json`,
    `invitations resend ${id}`,
    `invitations resend ${id} --json`,
    `invitations regenerate ${id} ${origin}`,
    `invitations regenerate ${id} --dry-run ${origin}`,
    `invitations regenerate ${id} --yes ${origin}`,
    `invitations cancel ${id} --dry-run`,
    `invitations cancel ${id} --yes`,
    `invitations cancel ${id}`,
    `invitations cancel ${id} --json`,
    `invitations resend ${id}`,
    `invitations regenerate ${id} ${origin}`,
    "users invite carl@example.org --role member --server-public-url https://qm.example.org --json",
  ]);
  const { items: others } = await workspace.json("invitations list --q carl");
  const other = Array.isArray(others) ? others[0].id : "";
  const renewed = await transcript(workspace, [`invitations regenerate ${other} --yes --json ${origin}`]);
  expectGolden("invitations", [...invited, ...steps, ...renewed], replacements(workspace));
});

const PROVIDER = `identity:
  oidc:
    issuer: https://id.example.org
    client_id: quartermaster
    client_secret_file: client-secret
server: {public_url: https://qm.example.org}
`;

function addProvider({ folder }: Workspace): void {
  writeFileSync(join(folder, "provider.yaml"), PROVIDER);
  writeFileSync(join(folder, "client-secret"), "client-secret", { mode: 0o600 });
}

test("SSO-33 identities", async () => {
  using workspace = await createInstallation();
  addProvider(workspace);
  const ana = "ana@example.org";
  await workspace.json(`users create ${ana} --role member`);
  const there = "--config provider.yaml";
  const former = "--issuer https://old.example.org";
  const steps = await transcript(workspace, [
    "identities list",
    `identities create ${ana} --subject 00u1a2b3 ${there} --dry-run`,
    `identities create ${ana} --subject 00u1a2b3 ${there} --yes`,
    `identities create ${ana} --subject 00u1a2b3 ${there} --json`,
    `identities create ${ana} --subject other ${there} --dry-run`,
    `identities create root@example.org --subject 00u1a2b3 ${there} --yes`,
    `identities create root@example.org --subject root ${former} ${there} --dry-run`,
    `identities create root@example.org --subject root ${former} --yes --json`,
  ]);
  const moves = await transcript(workspace, [
    `identities create --from-issuer https://old.example.org --by email ${there}`,
    `identities create --from-issuer https://id.example.org --by email ${there}`,
    "identities create --from-issuer https://id.example.org --to-issuer https://new.example.org --by email --dry-run",
    "identities create --from-issuer https://id.example.org --to-issuer https://new.example.org --by email --yes",
    "identities create --from-issuer https://id.example.org --to-issuer https://new.example.org --by email --yes --json",
    `identities create --from-issuer https://nowhere.example.org --by external-id ${there}`,
    "identities create --from-issuer https://id.example.org --to-issuer https://new.example.org --by external-id",
    "identities create --from-issuer https://id.example.org --to-issuer https://new.example.org --by external-id --json",
  ]);
  await workspace.run(`users suspend ${ana} --yes`);
  const more = await transcript(workspace, [
    `identities create ${ana} --subject 7 ${former} --dry-run --json`,
    "identities list",
    "identities list --wide",
    `identities list --user ${ana} --json`,
    `identities list ${former}`,
    `identities remove ${ana} ${there}`,
    `identities remove ${ana} ${there} --dry-run`,
    `identities remove ${ana} ${there} --yes`,
    `identities remove ${ana} ${there} --yes`,
    `identities remove root@example.org ${former} --yes --json`,
    "identities list --json",
  ]);
  expectGolden("identities", [...steps, ...moves, ...more], replacements(workspace));
});

test("logins", async () => {
  using workspace = await createInstallation();
  const { grantId, loginSessionId, pendingId } = await logInOn(workspace);
  const steps = await transcript(workspace, [
    "logins list",
    "logins list --wide",
    "logins list --kind grant --json",
    "logins list --user root@example.org --all",
    `logins show ${grantId}`,
    `logins show ${loginSessionId} --json`,
    `logins revoke ${grantId}`,
    `logins revoke ${grantId} --dry-run`,
    `logins revoke ${grantId} --yes`,
    `logins revoke ${grantId} --yes --json`,
    `logins revoke ${pendingId} --yes`,
    "logins revoke --user root@example.org --dry-run --json",
    "logins revoke --user root@example.org --yes",
    "logins revoke --user root@example.org --json",
    "logins list",
  ]);
  const { loginSessionId: kept } = await logInOn(workspace);
  const all = await transcript(workspace, [
    `logins revoke --user root@example.org --except ${kept} --dry-run`,
    `logins revoke --user root@example.org --except ${kept} --yes --json`,
    `logins revoke --user root@example.org --except ${loginSessionId} --yes`,
    `logins revoke --all --except ${kept}`,
    "logins revoke --all --dry-run",
    "logins revoke --all --yes",
    "logins revoke --all",
  ]);
  expectGolden("logins", [...steps, ...all], replacements(workspace));
});

test("signing keys", async () => {
  using workspace = await createInstallation();
  const request = await transcript(workspace, [
    "signing-keys list --json",
    "signing-keys rotate",
    "signing-keys rotate --dry-run",
  ]);
  workspace.clock.advance(HOUR_MS); // keys created in the same millisecond have no defined order
  const steps = await transcript(workspace, [
    "signing-keys rotate --yes",
    "signing-keys list",
    "signing-keys list --wide",
    "signing-keys rotate --yes --json",
  ]);
  expectGolden("signing-keys", [...request, ...steps], replacements(workspace).set(KEY_ID, NEW_KEY_ID));
});

test("scim", async () => {
  using workspace = await createInstallation();
  const file = join(workspace.folder, "token");
  writeFileSync(file, "configured-secret\n", { mode: 0o600 });
  const made = await transcript(workspace, [
    "scim tokens list",
    "scim status",
    "scim tokens create okta",
    "scim tokens create entra --profile entra --expires 90d --json",
    "scim tokens create entra",
    "scim tokens list --scim-token-file token",
  ]);
  await presentOn(workspace, file, "configured-secret");
  await provisionOn(workspace);
  workspace.clock.advance(HOUR_MS);
  const used = await transcript(workspace, [
    "scim tokens list",
    "scim tokens list --json",
    "scim status --scim-token-file token",
    "scim status --json",
    "scim tokens revoke okta",
    "scim tokens revoke okta --dry-run",
    "scim tokens revoke okta --dry-run --json",
    "scim tokens revoke okta --yes",
    "scim tokens revoke okta",
    "scim tokens revoke entra --yes --json",
    "scim tokens revoke configured --yes",
    "scim tokens list",
    "scim tokens list --all",
    "groups list",
    "groups list --q design --wide",
    "groups list --json",
    "groups show engineering",
    "groups show Engineering --json",
    "groups show design",
    "users list --source scim",
  ]);
  const createdBy = /(?<="created_by": ")(?!configuration)[^"]+/g; // the user who runs the test
  expectGolden("scim", [...made, ...used], replacements(workspace).set(createdBy, "<operator>"));
});

test("gateway models", async () => {
  await using upstream = await createInstalledGateway();
  const { workspace, gateway } = upstream;
  const off = await transcript(workspace, ["gateway models list"]);
  await beginPolicyOn(workspace);
  const withGateway = (...lines: string[]) =>
    transcript(
      workspace,
      lines.map((line) => `gateway models ${line} --config gateway.yaml`),
    );
  const early = await withGateway(
    "list",
    "assign codex old",
    "assign codex old --dry-run",
    "assign codex old --yes",
  );
  gateway.models = ["model-b", { id: "model-a", display_name: "A", metadata: { context: 8, beta: true } }];
  const first = await withGateway("list", "refresh", "refresh --json");
  gateway.models = [{ id: "model-a", display_name: "A, the second", metadata: { context: 16, price: 2 } }];
  workspace.clock.advance(HOUR_MS);
  const later = await withGateway(
    "refresh",
    "list",
    "list --wide",
    "list --state changed --json",
    "acknowledge model-a",
    "acknowledge model-a --dry-run",
    "acknowledge model-a --yes --json",
    "acknowledge model-a",
    "acknowledge model-c --yes",
    "assign codex",
    "assign codex model-a --none",
    "assign vim model-a",
    "assign codex model-a model-a --default model-b --yes",
    "assign codex model-a --default model-a --comment agreed --yes",
    "assign codex model-a --yes",
    "assign codex --none --no-default --base 1 --yes",
    "assign codex --none --no-default --yes --json",
  );
  gateway.fail("GET /v1/models", { kind: "status", status: 401 });
  const failed = await withGateway("refresh", "list");
  const words = replacements(workspace).set(EXTERNAL_ID, "<sha256>");
  expectGolden("gateway-models", [...off, ...early, ...first, ...later, ...failed], words);
});

test("gateway logs", async () => {
  using workspace = await createInstallation();
  mkdirSync(join(workspace.folder, "logs"));
  workspace.clock.advance(2 * HOUR_MS);
  const userId = userOn(workspace);
  const rows = [1, 2, 3].map((number) => rowOf(number, { userId }));
  useOn(workspace, { userId, day: dayOf(START_MS), model: "gpt-5" });
  logOn(workspace, rows, [{ fromMs: START_MS, toMs: START_MS + 5, count: 12, cause: "queue_full" }]);
  const lists = await transcript(workspace, [
    "gateway logs list",
    "gateway logs list --wide --limit 1",
    "gateway logs list --model gpt-5 --limit 1 --json",
    "gateway logs list --from 2026-01-02 --to 2026-01-01",
    "gateway logs summary",
    "gateway logs summary --by model --from 2026-01-01 --json",
    "gateway logs tail --no-follow",
    "gateway logs tail --no-follow --limit 1 --json",
    "gateway usage",
    "gateway usage --by model --json",
    "gateway usage --from tomorrow",
  ]);
  workspace.clock.advance(2 * DAY_MS);
  const exports = await transcript(workspace, [
    "gateway logs export --out logs",
    "gateway logs export --jsonl --out logs --dry-run",
    "gateway logs export --jsonl --out logs",
    "gateway logs export --jsonl --out logs --json",
    "gateway logs export --jsonl --out missing",
    "gateway logs export --jsonl",
    "gateway logs export --jsonl --store",
  ]);
  expectGolden("gateway-logs", [...lists, ...exports], replacements(workspace));
});

const JOB_NAMES = ["access-sweep", "gateway-reconcile"];

test("keys", async () => {
  await using upstream = await createInstalledGateway();
  const { workspace, gateway } = upstream;
  const off = await transcript(workspace, [
    "keys list",
    "keys show root@example.org",
    "keys ensure root@example.org",
  ]);
  for (const name of ["ana", "bob", "carl"])
    await workspace.json(`users create ${name}@example.org --role member`);
  for (const name of ["ana", "bob"]) gateway.addUser(`${name}@example.org`);
  const made = await transcript(workspace, [
    "keys list --config gateway.yaml",
    "keys ensure ana@example.org --config gateway.yaml",
    "keys ensure ana@example.org --config gateway.yaml",
    "keys ensure bob@example.org --config gateway.yaml --json",
    "keys ensure carl@example.org --config gateway.yaml",
    "keys ensure carl@example.org --config gateway.yaml",
    "keys ensure carl@example.org --manual --config gateway.yaml --json",
  ]);
  workspace.clock.advance(HOUR_MS);
  const shown = await transcript(workspace, [
    "keys list --config gateway.yaml",
    "keys list --wide --config gateway.yaml",
    "keys list --expires-within 7d --config gateway.yaml",
    "keys list --user root@example.org --config gateway.yaml",
    "keys list --expires-within soon --config gateway.yaml",
    "keys list --state error --config gateway.yaml --json",
    "keys list --problems --config gateway.yaml",
    "keys list --q bob --config gateway.yaml",
    "keys show ana@example.org --config gateway.yaml",
    "keys show root@example.org --config gateway.yaml --json",
    "keys rotate ana@example.org --config gateway.yaml",
    "keys rotate ana@example.org --config gateway.yaml --dry-run",
    "keys rotate ana@example.org --config gateway.yaml --yes",
    "keys revoke bob@example.org --config gateway.yaml",
    "keys revoke bob@example.org --config gateway.yaml --dry-run --json",
    "keys revoke bob@example.org --config gateway.yaml --yes",
    "keys revoke bob@example.org --config gateway.yaml --json",
    "keys list",
    "keys reconcile",
    "keys reconcile --config gateway.yaml",
  ]);
  gateway.addUser("carl@example.org");
  const healed = await transcript(workspace, [
    "keys reconcile --config gateway.yaml",
    "keys reconcile --config gateway.yaml --json",
    "users suspend ana@example.org --yes",
    "keys ensure ana@example.org --config gateway.yaml",
    "keys show ana@example.org --config gateway.yaml",
    "keys revoke carl@example.org --yes",
    "signing-keys rotate --inference --yes",
    "signing-keys rotate --inference --yes --config gateway.yaml",
    "signing-keys list --config gateway.yaml",
    "keys rotate carl@example.org --config gateway.yaml --yes --json",
  ]);
  const many = await transcript(workspace, [
    "keys change rotate ana@example.org bob@example.org --config gateway.yaml --dry-run",
    "keys change ensure bob@example.org carl@example.org --config gateway.yaml --yes",
    "keys change revoke --state ready --config gateway.yaml --yes --json",
    "keys change revoke --q nobody --config gateway.yaml --yes",
    "keys change revoke --yes",
    "keys change revoke --expires-within soon --yes",
    "keys change explode ana@example.org",
  ]);
  const replacing = replacements(workspace)
    .set(EXTERNAL_ID, "<external id, 64 characters long>")
    .set(KEY_ID, NEW_KEY_ID);
  expectGolden("keys", [...off, ...made, ...shown, ...healed, ...many], replacing);
});

test("sealing keys", async () => {
  using workspace = await createInstallation();
  writeFileSync(join(workspace.folder, "provided"), `${Buffer.alloc(32, 7).toString("base64")}\n`, {
    mode: 0o600,
  });
  const first = await transcript(workspace, [
    "sealing-keys list",
    "sealing-keys rotate",
    "sealing-keys rotate --dry-run",
    "sealing-keys rotate --dry-run --json",
    "sealing-keys rotate --yes",
    "sealing-keys list --wide",
    "sealing-keys list --json",
  ]);
  await rewrapOn(workspace);
  const rewrapped = await transcript(workspace, [
    "sealing-keys list",
    "sealing-keys rotate --yes --json",
    "sealing-keys list --keys-sealing-key-file provided",
    "sealing-keys rotate --keys-sealing-key-file provided",
  ]);
  rmSync(join(workspace.data, "keys/0002.sealing-key"));
  const missing = await transcript(workspace, ["sealing-keys list", "sealing-keys rotate --yes"]);
  expectGolden("sealing-keys", [...first, ...rewrapped, ...missing], replacements(workspace));
});

test("jobs", async () => {
  using workspace = await createInstallation();
  const none = await transcript(workspace, ["jobs list", "jobs run access-sweep"]);
  await runJobsOn(workspace, JOB_NAMES);
  workspace.clock.advance(MINUTE_MS);
  const steps = await transcript(workspace, [
    "jobs list",
    "jobs list --wide",
    "jobs run access-sweep",
    "jobs run access-sweep",
    "jobs pause access-sweep",
    "jobs pause access-sweep --json",
    "jobs run access-sweep",
    "jobs list --json",
    "jobs resume access-sweep",
    "jobs resume access-sweep",
    "jobs run acces-sweep",
    "jobs run access-sweep --json",
    "jobs resume access-sweep --json",
  ]);
  expectGolden("jobs", [...none, ...steps], replacements(workspace));
});

test("sessions", async () => {
  using workspace = await createInstallation();
  const none = await transcript(workspace, ["sessions list", "sessions verify", "sessions apply --yes"]);
  const { sessionId: id } = await captureOn(workspace, "the first session");
  workspace.clock.advance(HOUR_MS);
  await captureOn(workspace, "the second version", { more: { title: "Move the orders", resumable: false } });
  const more = { session_id: "other", harness: "claude", compatibility_profile: "legacy", resumable: false };
  const { sessionId: other } = await captureOn(workspace, "another session", { more });
  await shareOn(workspace, { sessionId: id, mode: "workspace" });
  workspace.clock.advance(2 * DAY_MS);
  writeFileSync(
    join(workspace.folder, "shorter.yaml"),
    "sessions: {retention_days: 1, superseded_days: 0}\n",
  );
  const shorter = "--config shorter.yaml";
  const kept = await transcript(workspace, [
    "sessions list",
    "sessions list --wide",
    "sessions list --harness claude --json",
    `sessions show ${id}`,
    `sessions show ${id} --json`,
    "sessions migrate --to local --yes",
    "sessions migrate --to local --yes --json",
    "sessions migrate --to s3 --yes",
    `sessions export ${id} out.tgz`,
    `sessions export ${id} out.tgz`,
    `sessions export ${other} other.tgz --json`,
    `sessions hold ${id}`,
    `sessions hold ${id} --json`,
    `sessions remove ${id} --dry-run`,
    `sessions remove ${id} --yes`,
    `sessions release ${id}`,
    `sessions release ${id} --json`,
    `sessions revoke ${id} --dry-run`,
    `sessions revoke ${id} --yes`,
    `sessions revoke ${id} --yes`,
    "sessions revoke --owner root@example.org --yes --json",
    `sessions apply --dry-run ${shorter}`,
    `sessions apply --yes ${shorter}`,
    `sessions apply --yes --json ${shorter}`,
    "sessions verify",
    "sessions verify --json",
  ]);
  const digest = sha256Hex("the first session");
  writeFileSync(join(workspace.data, "sessions/sha256", digest.slice(0, 2), digest), "the worst session");
  const gone = await transcript(workspace, [
    "sessions verify --dry-run",
    "sessions verify",
    "sessions verify --json",
    `sessions remove ${id} --dry-run --json`,
    `sessions remove ${id} --yes`,
    `sessions remove ${other} --yes --json`,
    "sessions sweep --yes",
  ]);
  leaveObject(workspace);
  const swept = await transcript(workspace, [
    "sessions sweep --dry-run",
    "sessions sweep --yes",
    "sessions sweep --yes --json",
  ]);
  expectGolden("sessions", [...none, ...kept, ...gone, ...swept], replacements(workspace));
});

test("clients", async () => {
  using workspace = await createInstallation();
  const none = await transcript(workspace, ["clients list", "clients revoke --stale 90d"]);
  const config_revision = await publishOn(workspace);
  await reportOn(workspace, [{ instance_id: "i-1", hostname: "lab-1", config_revision }]);
  workspace.clock.advance(80 * DAY_MS);
  const login = await reportOn(workspace, [
    { instance_id: "i-2", hostname: "lab-2", config_revision: null },
    { instance_id: "i-3", hostname: "lab-3", config_revision, files_ok: false, packages: [] },
  ]);
  workspace.clock.advance(20 * DAY_MS);
  await reportOn(workspace, [{ instance_id: "i-4", hostname: null, config_revision }], login);
  workspace.clock.advance(HOUR_MS);
  const { items } = await workspace.json("clients list --q i-4");
  const id = Array.isArray(items) ? items[0].id : "";
  const steps = await transcript(workspace, [
    "clients list",
    "clients list --wide",
    "clients list --health attention --json",
    "clients list --summary --sort host_asc",
    "clients list --summary --client-version 0.1.0 --platform linux --limit 1 --json",
    "clients counts",
    "clients counts --by health --json",
    "clients counts --by age",
    "clients list --stale 90d",
    "clients list --user root@example.org --harness codex --q lab --limit 1 --page 2",
    "clients show LAB-3",
    `clients show ${id} --json`,
    "clients show lab",
    "clients remove lab-1",
    "clients remove lab-1 --dry-run",
    "clients revoke",
    "clients revoke lab-1 --stale 90d",
    "clients list --recent",
    "clients list --last-seen-to 2020-01-01T09:00:00+09:00",
    "clients list --last-seen-from 2026-02-30 --last-seen-to Tuesday",
    "clients revoke --all --recent",
    "clients remove --all --dry-run",
    "clients remove lab-1 lab-2 --dry-run",
    "clients revoke --health attention --q lab-3 --dry-run --json",
    "clients remove --platform none --yes --json",
    "clients revoke --stale 0d --yes",
    "clients revoke --stale 90d --dry-run",
    "clients revoke --stale 90d --yes",
    "clients revoke --stale 90d --yes --json",
    `clients revoke ${id} --dry-run`,
    `clients revoke ${id} --yes`,
    `clients revoke ${id} --yes`,
    `clients revoke ${id} --json`,
    "logins list --user root@example.org",
    "clients remove lab-2 --yes --json",
    "clients remove lab-2 --yes",
    "clients revoke lab-2 --yes",
    "clients remove lab-9 --yes",
    "clients remove --stale 1d --dry-run --json",
    "clients remove --stale 1d --yes",
    "clients list",
  ]);
  expectGolden("clients", [...none, ...steps], replacements(workspace));
});

/** Replaces values that differ between runs: digests, sizes of random contents, and additions by new migrations. */
const BACKUP_REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/schema \d+( to \d+)?/g, "schema N"],
  [/"schema": \d+/g, '"schema": N'],
  [/(_schema"|"from"|"to"|"id"): \d+/g, "$1: N"],
  [/before-upgrade-schema-\d+/g, "before-upgrade-schema-N"],
  [/\d+ rows/g, "N rows"],
  [/"duration_ms": \d+/g, '"duration_ms": N'],
  [/"size_bytes": \d+/g, '"size_bytes": N'],
  [/"rows": \{[^}]*\}/g, '"rows": {<table>: N}'],
  [/"sha256": "[0-9a-f]{64}"/g, '"sha256": "<digest>"'],
  [/(?<=\.(?:qmb|db) +\w+ +\S+ +)\d+( +)\d+/g, "N$1N"],
];

/** @returns a workspace with a copy of the data, to which this process has no open connection */
function copyOf({ data }: Workspace): Workspace {
  const copy = createWorkspace();
  cpSync(data, copy.data, { recursive: true });
  return copy;
}

test("backup", async () => {
  using workspace = await createInstallation();
  writeFileSync(join(workspace.folder, "passphrase"), "correct horse battery\n", { mode: 0o600 });
  mkdirSync(join(workspace.data, "backups"), { recursive: true });
  mkdirSync(join(workspace.folder, "new-folder"));
  symlinkSync("/none", join(workspace.data, "backups/backup-removed-meanwhile.qmb"));
  const steps = await transcript(workspace, [
    "backup list",
    "backup create",
    "backup create missing-folder/",
    "backup create new-folder/",
    "backup create new-folder",
    "backup create with-keys.qmb --with-keys --passphrase-file passphrase --json",
    "backup create with-keys.qmb",
    "backup list",
    "backup list --wide",
    "backup list --json",
    "backup verify with-keys.qmb",
    "backup verify with-keys.qmb --json",
    "backup verify passphrase",
    "backup verify none.qmb",
  ]);
  const backup = join(workspace.folder, "with-keys.qmb");
  using other = copyOf(workspace);
  const restoring = await transcript(other, [
    `backup restore ${backup}`,
    `backup restore ${backup} --dry-run --revoke-logins`,
    `backup restore ${backup} --dry-run --json`,
    `backup restore ${backup} --confirm data`,
  ]);
  using third = copyOf(workspace);
  const more = await transcript(third, [`backup restore ${backup} --confirm data --revoke-logins --json`]);
  using fourth = copyOf(workspace);
  more.push(...(await transcript(fourth, [`backup restore ${backup} --confirm data --revoke-logins`])));
  using fresh = createWorkspace();
  const moved = await transcript(fresh, [
    `backup restore ${backup} --dry-run`,
    `backup restore ${backup}`,
    `backup restore ${backup} --confirm data`,
  ]);
  const replace = new Map<string | RegExp, string>([
    ...[workspace, other, third, fourth, fresh].map(({ folder }) => [folder, "<folder>"] as const),
    ...BACKUP_REPLACEMENTS,
  ]);
  expectGolden("backup", [...steps, ...restoring, ...more, ...moved], replace);
});

test("migrate", async () => {
  using newest = await createInstallation();
  const current = await transcript(newest, ["migrate up", "migrate up --json"]);
  using workspace = createWorkspace();
  makeOlder(workspace.data, workspace.clock);
  using other = copyOf(workspace);
  const steps = await transcript(workspace, [
    "migrate status",
    "migrate status --json",
    "migrate up --dry-run",
    "migrate up --dry-run --json",
    "migrate up",
    "migrate status",
    "backup list",
  ]);
  const json = await transcript(other, ["migrate up --json"]);
  const replace = new Map<string | RegExp, string>([
    ...[newest, workspace, other].map(({ folder }) => [folder, "<folder>"] as const),
    ...BACKUP_REPLACEMENTS,
  ]);
  expectGolden("migrate", [...current, ...steps, ...json], replace);
});

test("probe", async () => {
  await using service = await createListeningServer();
  using workspace = createWorkspace();
  writeFileSync(join(workspace.folder, "ca.pem"), "no certificate");
  writeFileSync(join(workspace.folder, "token"), "refused\n", { mode: 0o600 });
  const { origin } = service;
  const steps: Step[] = [];
  for (const line of [
    `probe ${origin}`,
    `probe ${origin} --json`,
    `probe ${origin} --token-file token`,
    `probe ${origin} --only-ready`,
    "probe http://127.0.0.1:1",
    "probe https://control.invalid",
    "probe control.example.org",
    `probe ${origin} --ca missing.pem`,
    `probe ${origin} --ca ca.pem`,
    "probe --help",
  ])
    steps.push({ line, ...(await runHere(line.split(" "), { cwd: workspace.folder })) });
  const replacing = replacements(workspace)
    .set(new URL(origin).port, "<port>")
    .set(/EAI_AGAIN/g, "ENOTFOUND") // of a machine without a name server
    .set(/\d+ ms/g, "N ms");
  expectGolden("probe", steps, replacing);
});

test("help", async () => {
  using workspace = createWorkspace();
  const steps: Step[] = [];
  for (const line of ["help --json", "help exit-codes", "help exit-codes --json"])
    steps.push({ line, ...(await runHere(line.split(" "), { cwd: workspace.folder })) });
  expectGolden("help", steps, replacements(workspace));
});
