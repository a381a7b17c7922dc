// Commands on the data directory of a running server: the next response of the server reflects the change. The server and the
// requests of workstations are real; browser requests are sent without Chromium.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { dumpOf } from "../../domain/erasure/erasure-world.ts";
import { FormBrowser, formTo } from "../../support/browser/form-browser.ts";
import { runHere } from "../../support/in-process.ts";
import {
  ADMIN_EMAIL,
  ADMIN_PASSWORD,
  prepareInstallation,
} from "../../support/installed/prepared-installation.ts";
import { type RunningService, startService } from "../../support/running-service.ts";
import { temporaryDirectory } from "../../support/world.ts";

const EXAMPLE = join(import.meta.dir, "../../../src/domain/catalog/example");
const DEVICE_CODE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

let folder: string;
let service: RunningService;

beforeAll(async () => {
  folder = temporaryDirectory();
  cpSync(EXAMPLE, folder, { recursive: true });
  await prepareInstallation(join(folder, "data"));
  service = await startService({ args: ["--data-dir", join(folder, "data")] });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function command(line: string): Promise<Record<string, unknown>> {
  const args = [...line.split(" "), "--json", "--data-dir", join(folder, "data")];
  const { stdout, stderr, exitCode } = await runHere(args, { cwd: folder });
  expect({ stderr: exitCode === 0 ? "" : stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  return JSON.parse(stdout);
}

const post = async (path: string, form: Record<string, string>) =>
  Object(
    await (await fetch(service.baseUrl + path, { method: "POST", body: new URLSearchParams(form) })).json(),
  );

/** Runs the device flow (RFC 8628) from the request of the workstation to its tokens. */
async function logIn(
  credential = { email: ADMIN_EMAIL, password: ADMIN_PASSWORD },
): Promise<{ accessToken: string; refreshToken: string }> {
  const client = { client_id: "blue-cli" };
  const login = await post("/api/auth/device/code", {
    ...client,
    scope: "governance:read client-status:write offline_access",
  });
  const browser = new FormBrowser(service.baseUrl, fetch);
  const path = new URL(login.verification_uri_complete).pathname;
  const page = await browser.signIn(await browser.visit(path), credential);
  const approved = await browser.submit(formTo(page, path), { decision: "approve" });
  expect(approved.path).toBe("/device/approved");
  const form = { ...client, grant_type: DEVICE_CODE_GRANT, device_code: login.device_code };
  const { access_token, refresh_token } = await post("/api/auth/oauth2/token", form);
  return { accessToken: access_token, refreshToken: refresh_token };
}

const catalogAs = (accessToken: string): Promise<Response> =>
  fetch(`${service.baseUrl}/admin/package-catalog`, { headers: { authorization: `Bearer ${accessToken}` } });

const idsSeenAs = async (accessToken: string) => {
  const packages: readonly { id: string }[] = await (await catalogAs(accessToken)).json();
  return packages.map(({ id }) => id);
};

test("the next response reflects seeded and removed packages", async () => {
  const { accessToken } = await logIn();
  expect(await idsSeenAs(accessToken)).toEqual([]);
  await command("catalog seed catalog.yaml");
  expect(await idsSeenAs(accessToken)).toEqual(["review-guide", "ticket-cli", "audit-hooks"]);
  await command("catalog remove ticket-cli --yes");
  expect(await idsSeenAs(accessToken)).toEqual(["review-guide", "audit-hooks"]);
});

test("rejects the next request of a revoked grant, and its refresh token", async () => {
  const { accessToken, refreshToken } = await logIn();
  const other = await logIn();
  expect((await catalogAs(accessToken)).status).toBe(200);
  const { items } = await command("logins list --kind grant");
  const [, grant] = Array.isArray(items) ? items : [];
  expect(await command(`logins revoke ${grant.id} --yes`)).toMatchObject({ changed: true });
  expect((await catalogAs(accessToken)).status).toBe(401);
  const form = { client_id: "blue-cli", grant_type: "refresh_token", refresh_token: refreshToken };
  expect(await post("/api/auth/oauth2/token", form)).toMatchObject({ error: "invalid_grant" });
  expect((await catalogAs(other.accessToken)).status).toBe(200);
});

test("`logins revoke --user` and `--all` end every login", async () => {
  const first = await logIn();
  await command(`logins revoke --user ${ADMIN_EMAIL} --yes`);
  expect((await catalogAs(first.accessToken)).status).toBe(401);
  const second = await logIn();
  expect((await catalogAs(second.accessToken)).status).toBe(200);
  await command("logins revoke --all --yes");
  expect((await catalogAs(second.accessToken)).status).toBe(401);
});

test("rejects the next request of an erased user, and leaves no trace in the database", async () => {
  const email = "ana@example.org";
  const { password } = await command(`users create ${email} --role admin`);
  const { accessToken, refreshToken } = await logIn({ email, password: String(password) });
  expect((await catalogAs(accessToken)).status).toBe(200);
  const erased = await command(`users erase ${email} --confirm ${email}`);
  expect(erased).toMatchObject({ erased: true, rows: { users: 1, grants: 1, login_sessions: 1 } });
  expect((await catalogAs(accessToken)).status).toBe(401);
  const form = { client_id: "blue-cli", grant_type: "refresh_token", refresh_token: refreshToken };
  expect(await post("/api/auth/oauth2/token", form)).toMatchObject({ error: "invalid_grant" });
  expect(await command("audit verify")).toMatchObject({ verified: true });
  const dump = JSON.stringify(dumpOf({ file: join(folder, "data", "quartermaster.db") }));
  expect(dump).not.toContain(email);
  expect(dump).toContain(String(erased.pseudonym));
});

test("publishes a rotated signing key immediately, and keeps accepting tokens of the old key", async () => {
  const { accessToken } = await logIn();
  const { kid } = await command("signing-keys rotate --yes");
  const { keys } = Object(await (await fetch(`${service.baseUrl}/api/auth/jwks`)).json());
  expect(keys).toHaveLength(2);
  expect(keys).toContainEqual(expect.objectContaining({ kid }));
  expect((await catalogAs(accessToken)).status).toBe(200);
});

test("an invitation created by a command works in the browser until a command cancels it", async () => {
  const { invitation_url, invitation } = await command("users invite ana@example.org --role member");
  expect(invitation_url).toStartWith(`${service.baseUrl}/`);
  const link = String(invitation_url).slice(service.baseUrl.length);
  const browser = new FormBrowser(service.baseUrl, fetch);
  expect((await browser.visit(link)).html).toContain("ana@example.org");
  await command(`invitations cancel ${Object(invitation).id} --yes`);
  expect((await browser.visit(link)).html).not.toContain("ana@example.org");
});

test("a password link created by a command works in the browser once", async () => {
  await command("users create lea@example.org --role member");
  const { password_url, user } = await command("users password-link lea@example.org --yes");
  expect(user).toMatchObject({ email: "lea@example.org" });
  expect(password_url).toStartWith(`${service.baseUrl}/`);
  const browser = new FormBrowser(service.baseUrl, fetch);
  const page = await browser.visit(String(password_url).slice(service.baseUrl.length));
  const chosen = { email: "lea@example.org", password: "chosen by lea herself" };
  const done = await browser.submit(formTo(page, "/set-password"), { password: chosen.password });
  expect(done.heading).toBe("Your password is set");
  expect((await browser.signIn(await browser.visit("/login"), chosen)).heading).toBe("Your start page");
});

test("rejects the next request of a suspended user", async () => {
  await command("users create bob@example.org --role admin");
  const { items } = await command("users list --q bob");
  expect(items).toHaveLength(1);
  const { password } = await command("users reset-password bob@example.org --yes");
  const signIn = await fetch(`${service.baseUrl}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: "bob@example.org", password }),
  });
  const cookie = signIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const ask = () => fetch(`${service.baseUrl}/admin/package-catalog`, { headers: { cookie } });
  expect((await ask()).status).toBe(200);
  await command("users suspend bob@example.org --yes");
  expect((await ask()).status).toBe(401);
});

test("a SCIM token created by a command works immediately, and is rejected after it is revoked", async () => {
  const { token } = await command("scim tokens create entra");
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/scim+json" };
  const provision = (path: string, body: object) =>
    fetch(`${service.baseUrl}/scim/v2/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const user = Object(await (await provision("Users", { userName: "dora@example.org" })).json());
  const members = [{ value: user.id }];
  expect((await provision("Groups", { displayName: "Engineering", members })).status).toBe(201);
  expect(await command("groups show engineering")).toMatchObject({
    member_count: 1,
    members: [{ id: user.id, user_name: "dora@example.org" }],
  });
  expect(await command("scim status")).toMatchObject({
    users: 1,
    groups: 1,
    tokens: [{ label: "entra", last_used_at: expect.any(String) }],
  });
  expect((await command("users list --source scim")).items).toMatchObject([{ email: "dora@example.org" }]);
  await command("scim tokens revoke entra --yes");
  expect((await provision("Groups", { displayName: "Design" })).status).toBe(401);
});

test("rejects the next report of a revoked workstation, and accepts one from a removed workstation", async () => {
  const { accessToken, refreshToken } = await logIn();
  const report = { instance_id: "i-1", hostname: "lab-14", client_version: "0.1.0", platform: "linux" };
  const send = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
    const body = JSON.stringify({ ...report, applied: true, files_ok: true });
    return (await fetch(`${service.baseUrl}/client-status`, { method: "POST", headers, body })).status;
  };
  expect(await send()).toBe(204);
  const figures = await (await fetch(`${service.baseUrl}/metrics`)).text();
  expect(figures).toContain('quartermaster_clients{health="outdated"} 1');
  expect(await command("clients remove lab-14 --yes")).toMatchObject({ changed: true });
  expect((await command("clients list")).items).toEqual([]);
  expect(await send()).toBe(204);
  expect((await command("clients list")).items).toMatchObject([{ hostname: "lab-14" }]);
  expect(await command("clients revoke lab-14 --yes")).toMatchObject({ changed: true });
  expect(await send()).toBe(401);
  expect((await command("clients list")).items).toEqual([]);
  const form = { client_id: "blue-cli", grant_type: "refresh_token", refresh_token: refreshToken };
  expect(await post("/api/auth/oauth2/token", form)).toMatchObject({ error: "invalid_grant" });
});
