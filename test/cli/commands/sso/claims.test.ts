// `sso verify --claims` applies the rules to pasted claims and changes nothing. Its output is compared with
// golden/sso-claims.txt.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tracesOf } from "../../../support/audit-watch.ts";
import { expectGolden, type Step } from "../../../support/cli/golden.ts";
import { createInstallation, type Workspace } from "../../../support/in-process.ts";

const ISSUER = "https://id.example.org";
const ANA = "ana@example.org";

function configure({ folder }: Workspace, name: string, rules: string): void {
  const provider = `issuer: "${ISSUER}", client_id: quartermaster, client_secret_file: client-secret`;
  const text = `server: {public_url: "https://qm.example.org"}\nidentity:\n  oidc: {${provider}${rules}}\n`;
  writeFileSync(join(folder, `${name}.yaml`), text);
  writeFileSync(join(folder, "client-secret"), "client-secret", { mode: 0o600 });
}

async function createSite() {
  const workspace = await createInstallation();
  configure(workspace, "invited", "");
  configure(
    workspace,
    "jit",
    ', provisioning: jit, allowed_domains: [example.org], allowed_groups: [staff], required_claims: {tid: "1"}, group_role_mappings: {ops: admin}',
  );
  await workspace.json(`users create ${ANA} --role member`);
  return workspace;
}

const told = (workspace: Workspace, claims: object, config = "invited") =>
  workspace
    .run(`sso verify --claims - --config ${config}.yaml --json`, { stdin: JSON.stringify(claims) })
    .then(({ stdout }) => JSON.parse(stdout));

test("SSO-33 claims show who would sign in as which user and why, without contacting the provider", async () => {
  using workspace = await createSite();
  const write = (name: string, text: string) => writeFileSync(join(workspace.folder, name), text);
  const person = { sub: "00u1a2b3", email: ANA, email_verified: true };
  write("ana.json", JSON.stringify(person));
  write(
    "new.json",
    JSON.stringify({ ...person, email: "eve@example.org", groups: ["staff", "ops"], tid: 1 }),
  );
  write("elsewhere.json", JSON.stringify({ ...person, iss: "https://other.example.org" }));
  write("list.json", "[1]");
  write("broken.json", '{\n  "sub": "s",\n  "email": "x" "y"\n}\n');
  write("token.txt", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJzIn0.c2ln\n");
  const steps: Step[] = [];
  for (const line of [
    "sso verify --claims ana.json --config invited.yaml",
    "sso verify --claims ana.json --config invited.yaml --json",
    "sso verify --claims ana.json --config jit.yaml",
    "sso verify --claims new.json --config jit.yaml",
    "sso verify --claims elsewhere.json --config invited.yaml",
    "sso verify --claims list.json --config invited.yaml",
    "sso verify --claims broken.json --config invited.yaml",
    "sso verify --claims token.txt --config invited.yaml",
    "sso verify --claims nothing.json --config invited.yaml",
    "sso verify --claims ana.json",
  ])
    steps.push({ line, ...(await workspace.run(line)) });
  expectGolden("sso-claims", steps, new Map([[workspace.folder, "<folder>"]]));
});

test("SSO-33 claims that a token cannot have cause a warning", async () => {
  using workspace = await createSite();
  configure(workspace, "aged", ", max_age_seconds: 300");
  const warned = async (claims: object) =>
    (await workspace.run("sso verify --claims - --config aged.yaml", { stdin: JSON.stringify(claims) }))
      .stderr;
  const person = { sub: "s", email: ANA, email_verified: true, auth_time: 1 };
  expect(await warned(person)).toBe("");
  const azp = "quartermaster";
  expect(await warned({ ...person, aud: ["other", "quartermaster"], azp })).toBe("");
  expect(await warned({ ...person, aud: ["other", "quartermaster"] })).toContain("without azp; its tokens");
  expect(await warned({ ...person, azp: "other" })).toContain("azp is another client; its tokens");
  expect(await warned({ ...person, aud: "other" })).toContain("aud does not name the client quartermaster");
  for (const auth_time of [undefined, null, "abc"])
    expect(await warned({ ...person, auth_time })).toContain("auth_time is missing or not a number");
});

test("SSO-33 trying claims changes and counts nothing, even when they cannot be accepted", async () => {
  using workspace = await createSite();
  const traces = await tracesOf(join(workspace.data, "quartermaster.db"), {}, async () => {
    expect(await told(workspace, { sub: "s", email: ANA, email_verified: true })).toMatchObject({
      decision: "prove_password",
      email: ANA,
      linked_by: "password",
    });
    expect(await told(workspace, { sub: "s\u0001" })).toMatchObject({ reason: "sso.claims_invalid" });
  });
  expect(traces).toMatchObject({ actions: [], tables: [] });
});

test("SSO-33 claims from stdin may have 256 KiB, and no byte more", async () => {
  using workspace = await createSite();
  const outcome = async (length: number) => {
    const stdin = JSON.stringify({ sub: "s" }).padEnd(length);
    const { exitCode, stderr } = await workspace.run("sso verify --claims - --config invited.yaml", {
      stdin,
    });
    return [exitCode, stderr.split("\n")[0]];
  };
  expect(await outcome(262_144)).toEqual([0, ""]);
  expect(await outcome(262_145)).toEqual([2, "error: standard input is longer than 262144 bytes"]);
});

const STAFF = { sub: "s", email: "eve@example.org", email_verified: true, tid: "1", groups: ["staff"] };

test.each<[string, object, string, string]>([
  ["another tenant", { ...STAFF, tid: "2" }, "sso.not_allowed", "tid"],
  [
    "another domain",
    { ...STAFF, email: "eve@example.com" },
    "sso.not_allowed",
    "eve@example.com; allowed domains",
  ],
  [
    "an unverified address",
    { ...STAFF, email_verified: false },
    "sso.email_unverified",
    "email_verified is not true",
  ],
  ["another group", { ...STAFF, groups: ["others"] }, "sso.not_allowed", "none of the allowed groups: staff"],
  ["no list of groups", { ...STAFF, groups: undefined }, "sso.groups_overage", "absent"],
  ["too many groups", { ...STAFF, hasgroups: true }, "sso.groups_overage", "overage"],
  ["no subject", { ...STAFF, sub: undefined }, "sso.claims_invalid", "sub or iss is missing"],
])("SSO-33 a person with %s is refused with the name of the rule", async (_, claims, reason, why) => {
  using workspace = await createSite();
  expect(await told(workspace, claims, "jit")).toMatchObject({
    decision: "refuse",
    reason,
    why: expect.stringContaining(why),
    role: null,
  });
});

test.each<[string, object, string, string]>([
  [
    "a stranger",
    { sub: "s", email: "eve@example.org", email_verified: true },
    "sso.not_provisioned",
    "invited",
  ],
  ["no address", { sub: "s" }, "sso.email_missing", "no usable address"],
  ["an address nobody vouches for", { sub: "s", email: ANA }, "sso.email_unverified", "trust_email"],
  [
    "the address of root",
    { sub: "s", email: "root@example.org", email_verified: "true" },
    "sso.user_protected",
    "identities create",
  ],
])("SSO-33 %s is refused while people are invited", async (_, claims, reason, why) => {
  using workspace = await createSite();
  expect(await told(workspace, claims)).toMatchObject({ reason, why: expect.stringContaining(why) });
});

test("SSO-33 groups decide the role, except for the protected administrator and a suspended user", async () => {
  using workspace = await createSite();
  for (const [email, subject] of [
    ["root@example.org", "root"],
    [ANA, "ana"],
  ])
    await workspace.json(`identities create ${email} --subject ${subject} --issuer ${ISSUER} --yes`);
  const told2 = (sub: string, groups: string[]) => told(workspace, { ...STAFF, sub, groups }, "jit");
  expect(await told2("root", ["staff"])).toMatchObject({
    decision: "sign_in",
    role: "admin",
    keeps_role: true,
  });
  expect(await told2("ana", ["staff", "ops"])).toMatchObject({ role: "admin", keeps_role: false });
  await workspace.json(`users suspend ${ANA} --yes`);
  expect(await told2("ana", ["staff"])).toMatchObject({
    reason: "sso.user_inactive",
    why: `the user ${ANA} is suspended`,
    user: { email: ANA },
  });
});
