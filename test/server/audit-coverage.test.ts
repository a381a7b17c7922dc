// Sends one valid request to every route other than GET, and lists the actions that it records in the audit log. A
// route without an entry gives a reason and the tables that it may change, and so do the few GETs that change a table.
// New routes must be listed here.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { sql } from "drizzle-orm";
import { PUBLIC_SOURCES_DESTINATION } from "../../src/domain/catalog/sources/package-sources.ts";
import {
  CAPABILITIES_HEADER,
  CONTRACT_GENERATION,
  CONTRACT_VERSION_HEADER,
  POLICY_CAPABILITIES,
} from "../../src/domain/governance/wire.ts";
import { BULK_REQUEST, CORE_GROUP, CORE_USER, PATCH_OP, SEARCH_REQUEST } from "../../src/domain/scim/wire.ts";
import { fileSigner } from "../../src/platform/crypto/file-signatures.ts";
import { ANY_PUBLIC_HOST, createOutbound } from "../../src/platform/outbound/outbound.ts";
import { addJob, changeJob } from "../../src/platform/scheduler/store.ts";
import { Secret } from "../../src/platform/secret.ts";
import type { Requirement } from "../../src/server/auth/guard.ts";
import { reportWith } from "../domain/clients/policies.ts";
import { managedText, packageOf } from "../domain/governance/governance-world.ts";
import { type Expected, inTermsOf, tracesOf, wantedOf, watchOf } from "../support/audit-watch.ts";
import { FormBrowser, formTo, type Page, passkeyOptionsIn } from "../support/browser/form-browser.ts";
import { seedCatalog, writeArchive } from "../support/content/catalog.ts";
import { publishConflict, publishFirst, publishPackages } from "../support/content/policy.ts";
import {
  announcementOf,
  capture,
  createSessionServer,
  pathIn,
  presign,
  upload,
} from "../support/content/sessions.ts";
import { tarFile, tarGzOf } from "../support/content/tar.ts";
import { createGatewayServer, PROXY_TOKEN } from "../support/gateway/gateway-server.ts";
import { createTlsServer, type TlsServer } from "../support/network/tls-server.ts";
import { createProviderSite, leave, signInAt } from "../support/provider/provider-site.ts";
import { appCode } from "../support/second-factor/authenticator-app.ts";
import { createAuthenticator } from "../support/second-factor/software-authenticator.ts";
import {
  ADDRESS,
  BASE_URL,
  type Caller,
  createTestServer,
  METRICS_TOKEN,
  PASSWORD,
  SCIM_TOKEN,
  type Sent,
  type TestServer,
} from "../support/server.ts";
import { sharedServer } from "../support/shared.ts";
import { connectionTo, mirroringOf } from "../support/sources/mirror-site.ts";

const sameServer = sharedServer(createTestServer);
const sameSessions = sharedServer(createSessionServer);
const sameGateway = sharedServer(createGatewayServer);
const sameProvider = sharedServer(() =>
  createProviderSite({ provisioning: "jit", allowedDomains: ["example.com"] }),
);
const sameStrict = sharedServer(() => createTestServer({ access: { secondFactor: "everyone" } }));

interface Case extends Expected {
  /** Creates what must exist before the request. @returns the request; the path if it has parameters */
  ask(site: TestServer): Promise<Sent & { path?: string }>;
  /** defaults to a server without gateway mode, because creating its keys takes as long as everything else */
  site?: () => Promise<TestServer>;
  /** defaults to success */
  status?: number;
}

const CLIENT = { client_id: "blue-cli" };
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const CREDENTIAL = { email: "ada@example.com", password: PASSWORD };
/** A client that supports everything that a policy may require. */
const UP_TO_DATE = {
  [CONTRACT_VERSION_HEADER]: String(CONTRACT_GENERATION),
  [CAPABILITIES_HEADER]: POLICY_CAPABILITIES.join(","),
};
const UNKNOWN_ID = "01890000-0000-7000-8000-000000000000";

const form = (fields: Record<string, string>, headers: Record<string, string> = {}): Sent => ({
  body: new URLSearchParams(fields).toString(),
  headers: { ...FORM, ...headers },
});
const bearer = ({ accessToken }: Caller): Sent => ({ token: accessToken });
const asAdmin = async ({ signedIn }: TestServer, sent: Sent & { path?: string } = {}) => ({
  ...bearer(await signedIn("admin")),
  ...sent,
});
const asMember = async ({ signedIn }: TestServer) => bearer(await signedIn("member"));

/** @returns the id of a workstation that has reported */
async function reportedBy(site: TestServer): Promise<string> {
  const { user, accessToken: token } = await site.signedIn("member");
  await site.request("POST", "/client-status", { token, body: reportWith() });
  const { items } = site.domain.clients.inventory.list(site.world.organizationId, { userId: user.id });
  return items[0]?.id ?? "";
}

/** The report of an inference proxy about a request of a user. */
async function loggedRequest({ signedIn, world }: TestServer) {
  const { user } = await signedIn("member");
  return {
    id: world.ids.uuid(),
    organization_id: user.organizationId,
    user_id: user.id,
    occurred_at: new Date(world.clock.nowMs()).toISOString(),
    method: "POST",
    path: "/chat/completions",
    upstream_latency_ms: 12,
  };
}

/** A device login that nobody has opened yet. */
const begin = ({ domain }: TestServer) =>
  domain.access.deviceLogins.request({ clientId: CLIENT.client_id, scope: "governance:read", address: null });

/** A device login that a signed-in member has opened. */
async function claimed(site: TestServer) {
  const { cookie, actor, loginSessionId } = await site.signedIn("member");
  const login = await begin(site);
  await site.domain.access.deviceLogins.claim(actor, login.linkToken);
  return { cookie, actor, loginSessionId, ...login };
}

const invite = ({ domain, world }: TestServer) =>
  domain.identity.invitations.create(world.system, { email: "bob@example.com", role: "member" });

/** An administrator whose draft is saved. */
async function savedDraft(site: TestServer, caller?: Caller): Promise<Sent> {
  await publishFirst(site);
  const sent = caller ? bearer(caller) : await asAdmin(site);
  const body = { version: 0, managed_yaml: managedText({ required: true }) };
  await site.request("PUT", "/admin/policy-draft", { ...sent, body });
  return sent;
}

const browse = ({ server }: TestServer) =>
  new FormBrowser("http://localhost", (request) => server.handle(request, () => ADDRESS));

async function signedInBrowser(site: TestServer): Promise<FormBrowser> {
  await site.signedIn("member", { email: CREDENTIAL.email });
  const browser = browse(site);
  await browser.signIn(await browser.visit("/login"), CREDENTIAL);
  return browser;
}

/** @returns the Cookie header of the browser */
const cookieOf = ({ cookies }: FormBrowser): string =>
  [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");

/** @returns the request of the browser for this form of the page, filled in */
function filledIn(
  browser: FormBrowser,
  page: Page,
  filling: { action: string; fields?: Record<string, string> },
) {
  const { action, fields } = filling;
  const cookie = cookieOf(browser);
  const headers = { origin: "null", "sec-fetch-site": "same-origin" };
  return { path: action, cookie, ...form({ ...formTo(page, action).fields, ...fields }, headers) };
}

/** @returns an administrator's request for a form of the console. By default the form is on the page at its own path. */
async function onConsole(
  site: TestServer,
  {
    action,
    page = action,
    fields = {},
    caller,
  }: { action: string; page?: string; fields?: Record<string, string>; caller?: Caller },
) {
  const { cookie } = caller ?? (await site.signedIn("admin"));
  const browser = browse(site);
  const { name, value } = Bun.Cookie.parse(cookie);
  browser.cookies.set(name, value);
  return filledIn(browser, await browser.visit(page), { action, fields });
}

/** @returns an owner's request for a form about a captured session */
async function onOwnSession(
  site: TestServer,
  action: string,
  { page = "", fields = {} }: { page?: string; fields?: Record<string, string> } = {},
) {
  const caller = await site.signedIn("member");
  const { sessionId } = await capture(site, { token: caller.accessToken }, "text");
  const path = `/console/sessions/${sessionId}`;
  return await onConsole(site, { action: `${path}/${action}`, page: `${path}${page}`, fields, caller });
}

const IMAGE = '<svg xmlns="http://www.w3.org/2000/svg"></svg>';

/** @returns the form of the branding page with an image */
async function withImage(site: TestServer, action: string) {
  const { body, headers, ...sent } = await onConsole(site, { action, page: "/console/branding" });
  const form = new FormData();
  for (const [name, value] of new URLSearchParams(String(body))) if (name !== "file") form.set(name, value);
  form.set("file", new File([IMAGE], "image.svg"));
  const encoded = new Response(form);
  const type = { "content-type": encoded.headers.get("content-type") ?? "" };
  return { ...sent, headers: { ...headers, ...type }, body: await encoded.bytes() };
}

const UPLOAD_PATH = "/console/packages/new/upload";

/** @returns the upload of an archive by a form of that page */
async function withArchive(site: TestServer, action: string, page: string) {
  await publishFirst(site);
  const { body, headers, ...sent } = await onConsole(site, { action, page });
  const form = new FormData();
  for (const [name, value] of new URLSearchParams(String(body))) if (name !== "file") form.set(name, value);
  form.set("file", new File([new Uint8Array(GUIDE_ARCHIVE)], "guide-1.0.0.tgz"));
  const encoded = new Response(form);
  const type = { "content-type": encoded.headers.get("content-type") ?? "" };
  return { ...sent, headers: { ...headers, ...type }, body: await encoded.bytes() };
}

const BUNDLE_SIGNER = fileSigner(
  new Secret(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString()),
  "key",
);

/** @returns the bytes of a bundle with a package that the catalog lacks */
async function bundleFor(site: TestServer): Promise<Uint8Array<ArrayBuffer>> {
  await publishFirst(site);
  await seedCatalog(site, [{ ...packageOf("guide"), ...writeArchive(site, "guide", [tarFile("skills/a")]) }]);
  const request = { signer: BUNDLE_SIGNER, leaveOutRemote: false };
  const { bytes } = site.domain.catalog.bundles.export(site.world.organizationId, request);
  const bundle = new Uint8Array(Buffer.concat(await Array.fromAsync(bytes)));
  await seedCatalog(site, []);
  return bundle;
}

/** @returns the confirmation of the import of an uploaded bundle, answered with yes */
async function onKeptBundle(site: TestServer) {
  const bytes = await bundleFor(site);
  const bundle = await site.domain.pendingBundles.keep(
    (async function* () {
      yield bytes;
    })(),
  );
  const kept = { bundle, name: "a.bundle", trust: BUNDLE_SIGNER.publicKey };
  const action = "/console/catalog/import/plan";
  const page = `${action}?${new URLSearchParams(kept)}`;
  return await onConsole(site, { action, page, fields: { act: "import" } });
}

const GUIDE_ARCHIVE = tarGzOf(tarFile("skills/guide/SKILL.md", "# Guide"));

/** The layout is for one harness, because a second one would need a range. */
const STEP_FIELDS: Readonly<Record<string, Record<string, string>>> = {
  "/layout": { "claude-use": "", "kimi-use": "", "opencode-use": "" },
  "/audience": { scope: "organization", act: "save" },
};

/** @returns a step of a new package, after all previous steps */
async function onNewPackage(site: TestServer, step: "" | "/identity" | "/layout" | "/audience" | "/check") {
  await publishFirst(site);
  const caller = await site.signedIn("admin");
  const { packageAdditions: additions, packageSources } = site.domain;
  const bytes = (async function* () {
    yield GUIDE_ARCHIVE;
  })();
  const source = await packageSources.upload(caller.actor, { name: "guide-1.0.0.tgz", bytes });
  let addition = await additions.start(caller.actor, source);
  const named = { id: "guide", version: "1.0.0", name: "", isReplacement: false };
  if (step !== "" && step !== "/identity") addition = await additions.identify(caller.actor, addition, named);
  if (step === "/audience" || step === "/check")
    addition = await additions.layOut(caller.actor, addition, { codex: source.adapters.codex });
  if (step === "/check")
    await additions.offer(caller.actor, addition, { scope: "organization", user_ids: [] });
  const action = `/console/packages/new${step}`;
  return await onConsole(site, { action, fields: STEP_FIELDS[step] ?? {}, caller });
}

/** Steps are recorded when the addition starts, and when its package is in the draft. */
const asStep = (step: Parameters<typeof onNewPackage>[1]) => ({
  ask: (site: TestServer) => onNewPackage(site, step),
  changes: ["package_additions"],
  why: "the addition was recorded when it started",
});

/** @returns the request of the browser for a form about its administrator's draft */
async function onDraft(site: TestServer, request: Parameters<typeof onConsole>[1]) {
  const caller = await site.signedIn("admin");
  await savedDraft(site, caller);
  return await onConsole(site, { ...request, caller });
}

/** A form about a package of the policy for which the catalog has another version. */
async function onPackage(site: TestServer, below: string) {
  await publishFirst(site, { packages: [packageOf("guide")] });
  await seedCatalog(site, [packageOf("guide", { version: "2.0.0" })]);
  return await onConsole(site, { action: `/console/packages/guide${below}` });
}

async function publishAgain({ domain: { governance }, world }: TestServer, { actor }: Caller) {
  const baseRevision = governance.revisions.inForce(world.organizationId).id;
  await governance.publishing.publishPolicy(actor, {
    baseRevision,
    managedYaml: managedText({ ttl_seconds: 60 }),
  });
}

/** @returns the request of the browser for a form of the user's own pages */
async function ownForm(
  browser: FormBrowser,
  { action, fields }: { action: string; fields?: Record<string, string> },
) {
  const page = await browser.visit("/console/me");
  return filledIn(
    browser,
    { ...page, forms: [{ ...formTo(page, "/sign-out"), action }] },
    { action, ...(fields && { fields }) },
  );
}

/** @returns the decision on a device login as the page at that path sends it */
async function decided(site: TestServer, pathOf: (login: Awaited<ReturnType<typeof begin>>) => string) {
  const browser = await signedInBrowser(site);
  const action = pathOf(await begin(site));
  return filledIn(browser, await browser.visit(action), { action, fields: { decision: "approve" } });
}

const FACTORS = "/account/second-factor";

/** @returns the setup page of an authenticator app, filled in with the code that the app shows */
const withAppCode = ({ world }: TestServer, browser: FormBrowser, page: Page, action: string) => {
  const [, secret = ""] = /<code>([A-Z2-7 ]+)<\/code>/.exec(page.html) ?? [];
  return filledIn(browser, page, { action, fields: { code: appCode(secret, world.clock.nowMs()) } });
};

/** A signed-in browser of a member with an authenticator app, and the recovery codes that it was shown. */
async function withApp(site: TestServer) {
  const browser = await signedInBrowser(site);
  const page = await browser.visit(`${FACTORS}/authenticator-app`);
  const { body } = withAppCode(site, browser, page, `${FACTORS}/authenticator-app`);
  const fields = Object.fromEntries(new URLSearchParams(String(body)));
  const { html } = await browser.submit(formTo(page, `${FACTORS}/authenticator-app`), fields);
  const codes = [...html.matchAll(/<code>([A-Z2-9-]{19})<\/code>/g)].map(([, code = ""]) => code);
  return { browser, codes };
}

/** A signed-in browser of a member with a passkey. */
async function withPasskey(site: TestServer) {
  const browser = await signedInBrowser(site);
  const page = await browser.visit(`${FACTORS}/passkeys/new`);
  const response = createAuthenticator(BASE_URL).create(passkeyOptionsIn(page));
  await browser.submit(formTo(page, `${FACTORS}/passkeys/new`), { answer: response, name: "Laptop" });
  return browser;
}

/** A browser after the password. */
async function afterPassword(site: TestServer) {
  const browser = browse(site);
  const page = await browser.signIn(await browser.visit("/login"), CREDENTIAL);
  return { browser, page };
}

/** @returns the action on a separate job, which is paused first if it is to be resumed */
async function onJob(site: TestServer, action: "run" | "pause" | "resume") {
  const { world } = site;
  const name = `job-${world.ids.uuid()}`;
  await world.db.write((tx) => {
    addJob(tx, name, world.clock.nowMs() + 1_000);
    if (action === "resume") changeJob(tx, name, { paused: true });
  });
  return asAdmin(site, { path: `/admin/jobs/${name}/${action}` });
}

const NEW_PASSWORD = "an entirely new password";

/** @returns a form about their own account as a signed-in member sends it */
const onAccountPage = async (
  site: TestServer,
  filling: { action: string; fields?: Record<string, string> },
) => ownForm(await signedInBrowser(site), filling);

/** @returns the same, about the gateway key of a member who has one */
async function withOwnKey(site: TestServer, action: string) {
  const browser = await signedInBrowser(site);
  const page = await browser.visit("/console/me/key");
  await browser.submit(formTo(page, "/console/me/key/ensure"), {});
  return ownForm(browser, { action });
}

const SCIM_JSON = { "content-type": "application/scim+json" };
const scim = (body?: object, path?: string): Sent & { path?: string } => ({
  token: SCIM_TOKEN,
  ...(body && { body, headers: SCIM_JSON }),
  ...(path !== undefined && { path }),
});
const USER = { schemas: [CORE_USER], userName: "bob@example.com" };
const GROUP = { schemas: [CORE_GROUP], displayName: "Everybody" };
const replace = (path: string, value: unknown) => ({
  schemas: [PATCH_OP],
  Operations: [{ op: "replace", path, value }],
});

/** Creates a user or group as an identity provider does. @returns its path */
async function provisioned({ request }: TestServer, body: typeof USER | typeof GROUP): Promise<string> {
  const folder = body === USER ? "/scim/v2/Users" : "/scim/v2/Groups";
  const { id } = await (await request("POST", folder, scim(body))).json();
  return `${folder}/${id}`;
}

/** @returns a fingerprint that the model does not have */
async function withChangedModel(site: TestServer): Promise<string> {
  const { world, domain } = site;
  const { organizationId } = world;
  await publishFirst(site);
  await domain.modelCatalog.refresh(organizationId);
  await world.db.write((tx) => tx.run(sql`UPDATE gateway_models SET acknowledged_fingerprint = 'other'`));
  const [model] = domain.modelCatalog.view(organizationId).models;
  return model?.fingerprint ?? "";
}

/** A workstation with a key at the gateway and an inference token. */
async function withInferenceToken(site: TestServer) {
  const caller = await site.signedIn("member");
  await site.request("POST", "/gateway/key/ensure", bearer(caller));
  const { token } = await (await site.request("POST", "/gateway/token", bearer(caller))).json();
  const [, claims = ""] = String(token).split(".");
  const { gateway_session_id, sub } = JSON.parse(Buffer.from(claims, "base64url").toString());
  const body = { user_id: sub, gateway_session_id };
  const { credential_version } = await (
    await site.request("POST", "/internal/gateway/resolve", { token: PROXY_TOKEN, body })
  ).json();
  return { caller, body, invalid: { user_id: sub, credential_version, reason: "blocked" } };
}

let host: TlsServer;
beforeAll(async () => {
  host = await createTlsServer(() => new Response(new Uint8Array(tarGzOf(tarFile("run", "#!/bin/sh\n")))));
});
afterAll(() => host[Symbol.dispose]());

const withPublicSources = sharedServer(() => {
  const allowed = [{ name: PUBLIC_SOURCES_DESTINATION, origin: ANY_PUBLIC_HOST, why: "test" }];
  return createTestServer({ outbound: createOutbound({ allowed, publicHosts: host.hosts }) });
});

const WEBHOOK_SECRET = "a-secret-of-the-webhook";
const withConnection = sharedServer(() => {
  const watching = {
    provider: "gitlab",
    watchEveryHours: 24,
    webhookSecret: new Secret(WEBHOOK_SECRET),
  } as const;
  const forge = connectionTo({ origin: "https://forge.example", kind: "gitlab" }, watching);
  return createTestServer(mirroringOf([forge], "unused"));
});

/** A route that always refuses. */
const closed = (status: number): Case => ({
  ask: async ({ signedIn }) => ({ cookie: (await signedIn("admin")).cookie }),
  status,
  why: "always refused",
});

/** A device login that nobody has opened, opened by a signed-in member for the first time. */
const looked = (pathOf: (login: Awaited<ReturnType<typeof begin>>) => string, changes: string[]): Case => ({
  async ask(site) {
    const { cookie } = await site.signedIn("member");
    return { cookie, path: pathOf(await begin(site)) };
  },
  changes,
  why: "opens the question; the decision on it is what counts",
});

const searched: Case = {
  site: sharedServer(createTestServer), // the use of a token is recorded at intervals
  ask: async () => scim({ schemas: [SEARCH_REQUEST] }),
  changes: ["scim_tokens"],
  why: "a question; when a token was used last is kept with the token",
};

/** By route; the text after a comma distinguishes requests to the same route. */
const CASES: Readonly<Record<string, Case>> = {
  "POST /api/auth/device/code": {
    ask: async () => form({ ...CLIENT, scope: "governance:read" }),
    changes: ["budgets", "device_logins"],
    why: "an unauthenticated caller's request; only the decision on it changes access",
  },
  "POST /api/auth/oauth2/token": {
    async ask(site) {
      const { actor, linkToken, loginSessionId, deviceCode } = await claimed(site);
      await site.domain.access.deviceLogins.decide(actor, { linkToken, loginSessionId, decision: "approve" });
      return form({ ...CLIENT, grant_type: DEVICE_GRANT, device_code: deviceCode });
    },
    leaves: ["grant.create"],
  },
  "POST /api/auth/oauth2/token, refreshing": {
    async ask({ signedIn }) {
      const { refreshToken: refresh_token } = await signedIn("member");
      return form({ ...CLIENT, grant_type: "refresh_token", refresh_token });
    },
    changes: ["grants", "refresh_tokens"],
    why: "the grant stays valid; a token used twice is what leaves an entry",
  },
  "POST /api/auth/oauth2/revoke": {
    ask: async ({ signedIn }) => form({ ...CLIENT, token: (await signedIn("member")).refreshToken }),
    leaves: ["grant.revoke"],
  },
  "POST /api/auth/device/token": closed(400),
  "POST /api/auth/sign-in/email": {
    async ask({ signedIn }) {
      await signedIn("member", { email: CREDENTIAL.email });
      return { body: CREDENTIAL };
    },
    leaves: ["login_session.open"],
  },
  "POST /api/auth/sign-out": {
    ask: async ({ signedIn }) => ({ cookie: (await signedIn("member")).cookie }),
    leaves: ["login_session.end"],
  },
  "POST /api/auth/backchannel-logout/:providerId": {
    site: sameProvider,
    async ask() {
      const site = await sameProvider();
      await signInAt(site, site.browser());
      const logout_token = await site.idp.logoutToken();
      return { path: "/api/auth/backchannel-logout/oidc", ...form({ logout_token }) };
    },
    leaves: ["identity_provider.logout"],
  },
  "GET /api/auth/callback/:providerId": {
    site: sameProvider,
    async ask() {
      const site = await sameProvider();
      const browser = site.browser();
      const path = await leave(site, browser);
      return { path, cookie: cookieOf(browser) };
    },
    status: 303,
    leaves: ["user.create", "identity.link", "login_session.open"],
  },
  "POST /session-uploads/presign": {
    site: sameSessions,
    ask: async (site) => ({ ...(await asMember(site)), body: announcementOf("text") }),
    changes: ["captured_sessions", "session_artifacts", "session_pending", "session_totals"],
    why: "nobody sees an upload before it is complete",
  },
  "PUT /session-objects/:id": {
    site: sameSessions,
    async ask(site) {
      const announced = await presign(site, await asMember(site), announcementOf("text"));
      const { upload_url: url, headers } = await announced.json();
      return { path: pathIn(url), headers: { ...headers, "content-length": "4" }, body: "text" };
    },
    changes: ["session_artifacts", "session_totals"],
    why: "nobody sees an upload before it is complete",
  },
  "POST /session-uploads/:id/complete": {
    site: sameSessions,
    async ask(site) {
      const owner = await asMember(site);
      const presigned = await (await presign(site, owner, announcementOf("text"))).json();
      await upload(site, presigned, "text");
      return { ...owner, path: presigned.complete_url };
    },
    leaves: ["captured_session.complete"],
  },
  "POST /session-uploads/:id/download": {
    site: sameSessions,
    async ask(site) {
      const owner = await asMember(site);
      const { sessionId } = await capture(site, owner, "text");
      return { ...owner, path: `/session-uploads/${sessionId}/download` };
    },
    leaves: ["captured_session.download"],
  },
  "PUT /session-uploads/:id/sharing": {
    site: sameSessions,
    async ask(site) {
      const owner = await asMember(site);
      const { sessionId } = await capture(site, owner, "text");
      return { ...owner, path: `/session-uploads/${sessionId}/sharing`, body: { mode: "workspace" } };
    },
    leaves: ["captured_session.share"],
  },
  "DELETE /session-uploads/:id": {
    site: sameSessions,
    async ask(site) {
      const owner = await asMember(site);
      const { sessionId } = await capture(site, owner, "text");
      return { ...owner, path: `/session-uploads/${sessionId}` };
    },
    leaves: ["captured_session.remove"],
  },
  "POST /login/link": {
    site: sameProvider,
    async ask() {
      const site = await sameProvider();
      await site.signedIn("member", { email: CREDENTIAL.email });
      const browser = site.browser();
      const { password } = CREDENTIAL;
      return filledIn(browser, await signInAt(site, browser), {
        action: "/login/link",
        fields: { password },
      });
    },
    leaves: ["identity.link", "login_session.open"],
  },
  "POST /api/login-method": {
    ask: async () => ({ body: { email: CREDENTIAL.email } }),
    why: "a question",
  },
  "POST /api/device/:token": {
    async ask(site) {
      const { cookie, linkToken } = await claimed(site);
      return { cookie, path: `/api/device/${linkToken}`, body: { action: "deny" } };
    },
    leaves: ["device_login.refuse"],
  },
  "POST /api/auth/device/approve": {
    async ask(site) {
      const { cookie, userCode } = await claimed(site);
      return { cookie, body: { userCode } };
    },
    leaves: ["device_login.approve"],
  },
  "POST /api/auth/device/deny": {
    async ask(site) {
      const { cookie, userCode } = await claimed(site);
      return { cookie, body: { userCode } };
    },
    leaves: ["device_login.refuse"],
  },
  "POST /api/auth/sign-up/email": closed(403),
  "POST /api/auth/organization/invite-member": closed(403),
  "POST /api/auth/organization/cancel-invitation": closed(403),
  "POST /api/auth/organization/remove-member": closed(403),
  "POST /api/auth/organization/update-member-role": closed(403),
  "POST /api/auth/admin/:operation": closed(403),
  "POST /sign-out": {
    async ask(site) {
      const browser = await signedInBrowser(site);
      return filledIn(browser, await browser.visit("/"), { action: "/sign-out" });
    },
    leaves: ["login_session.end"],
  },
  "GET /console/invitations.csv": {
    ask: async (site) => ({ cookie: (await site.signedIn("admin")).cookie }),
    leaves: ["list.export"],
  },
  "GET /console/groups.csv": {
    ask: async (site) => ({ cookie: (await site.signedIn("admin")).cookie }),
    leaves: ["list.export"],
  },
  "GET /console/packages.csv": {
    ask: async (site) => ({ cookie: (await site.signedIn("admin")).cookie }),
    leaves: ["list.export"],
  },
  "GET /console/logins.csv": {
    ask: async (site) => ({ cookie: (await site.signedIn("admin")).cookie }),
    leaves: ["list.export"],
  },
  "GET /console/gateway/keys.csv": {
    site: sameGateway,
    ask: async (site) => ({ cookie: (await site.signedIn("admin")).cookie }),
    leaves: ["list.export"],
  },
  "GET /console/sessions.csv": {
    ask: async (site) => ({ cookie: (await site.signedIn("member")).cookie }),
    leaves: ["list.export"],
  },
  "POST /console/sessions/:id/download": {
    site: sameSessions,
    ask: (site) => onOwnSession(site, "download"),
    leaves: ["captured_session.download"],
  },
  "POST /console/sessions/:id/share": {
    site: sameSessions,
    async ask(site) {
      const fields = { mode: "workspace", act: "save", confirmed: "1" };
      return onOwnSession(site, "share", { page: "/share", fields });
    },
    leaves: ["captured_session.share"],
  },
  "POST /console/sessions/:id/delete": {
    site: sameSessions,
    ask: (site) => onOwnSession(site, "delete", { page: "/delete" }),
    leaves: ["captured_session.remove"],
  },
  "GET /console/clients.csv": {
    ask: async (site) => ({ cookie: (await site.signedIn("admin")).cookie }),
    leaves: ["list.export"],
  },
  "POST /console/clients/action": {
    async ask(site) {
      const page = `/console/clients/action?act=remove&id=${await reportedBy(site)}`;
      return onConsole(site, { page, action: "/console/clients/action" });
    },
    leaves: ["client.remove"],
  },
  "POST /console/users/action": {
    async ask(site) {
      const [one, other] = [await site.signedIn("member"), await site.signedIn("member")];
      const page = `/console/users/action?act=suspend&id=${one.user.id}&id=${other.user.id}`;
      return onConsole(site, { page, action: "/console/users/action" });
    },
    leaves: ["users.update", "user.update"],
  },
  "POST /console/theme": {
    async ask(site) {
      const browser = await signedInBrowser(site);
      return filledIn(browser, await browser.visit("/console/audit"), { action: "/console/theme" });
    },
    why: "the choice is a cookie of the browser",
  },
  "PUT /me/console": {
    ask: (site) => asAdmin(site, { body: { views: [], lists: [] } }),
    leaves: ["console.update"],
  },
  "POST /me/console/views": {
    ask: (site) =>
      asAdmin(site, { body: { name: "all", path: "/console/users", query: "role=admin", shared: false } }),
    leaves: ["console.update"],
  },
  "DELETE /me/console/views/:id": {
    async ask({ signedIn, domain }) {
      const caller = await signedIn("member");
      const { actor, user } = caller;
      await domain.preferences.save(
        { actor, userId: user.id, mayShare: false, readsAll: false },
        { name: "x", path: "/console/me/logins", query: "kind=grant", isShared: false },
      );
      const [{ id = "" } = {}] = domain.preferences.of(user.id).views;
      return { ...bearer(caller), path: `/me/console/views/${id}` };
    },
    leaves: ["console.update"],
  },
  "POST /me/console/lists": {
    ask: (site) => asAdmin(site, { body: { path: "/console/users", query: "per_page=50" } }),
    leaves: ["console.update"],
  },
  "POST /console/me/views": {
    ask: (site) =>
      onConsole(site, {
        page: "/console/users?role=admin",
        action: "/console/me/views",
        fields: { name: "x" },
      }),
    leaves: ["console.update"],
  },
  "POST /console/me/views/usual": {
    ask: (site) =>
      onConsole(site, {
        page: "/console/users?per_page=50",
        action: "/console/me/views/usual",
        fields: { act: "keep" },
      }),
    leaves: ["console.update"],
  },
  "POST /console/me/views/:id/remove": {
    async ask(site) {
      const { user, actor, cookie } = await site.signedIn("admin");
      const list = { path: "/console/users", query: "role=admin" };
      await site.domain.preferences.save(
        { actor, userId: user.id, mayShare: true, readsAll: true },
        { ...list, name: "x", isShared: false },
      );
      const [{ id = "" } = {}] = site.domain.preferences.of(user.id).views;
      const action = `/console/me/views/${id}/remove`;
      const browser = browse(site);
      const { name, value } = Bun.Cookie.parse(cookie);
      browser.cookies.set(name, value);
      return filledIn(browser, await browser.visit(action), { action });
    },
    leaves: ["console.update"],
  },
  "POST /console/identity/tokens/new": {
    ask: (site) => onConsole(site, { action: "/console/identity/tokens/new", fields: { label: "entra" } }),
    leaves: ["scim_token.create"],
  },
  "POST /console/identity/tokens/:id/revoke": {
    async ask(site) {
      const input = { label: "entra", profile: "entra" };
      const { view } = await site.domain.scim.tokens.create(site.world.system, input);
      return onConsole(site, { action: `/console/identity/tokens/${view.id}/revoke` });
    },
    leaves: ["scim_token.revoke"],
  },
  "POST /console/system/examination": {
    ask: (site) => onConsole(site, { page: "/console/system", action: "/console/system/examination" }),
    why: "it reads",
  },
  "POST /console/audit/verify": {
    ask: (site) => onConsole(site, { page: "/console/audit", action: "/console/audit/verify" }),
    why: "only reads the log",
  },
  "POST /console/system/jobs/:name": {
    async ask(site) {
      const { path = "" } = await onJob(site, "pause");
      const [, name = ""] = /jobs\/([^/]+)/.exec(path) ?? [];
      const action = `/console/system/jobs/${name}`;
      return onConsole(site, { page: "/console/system/jobs", action, fields: { act: "pause" } });
    },
    leaves: ["job.pause"],
  },
  "POST /console/invitations": {
    ask: (site) =>
      onConsole(site, { action: "/console/invitations", fields: { addresses: "new@example.com" } }),
    leaves: ["invitation.create"],
  },
  "POST /console/invitations/:id/:action": {
    async ask(site) {
      const { invitation } = await invite(site);
      return onConsole(site, { action: `/console/invitations/${invitation.id}/cancel` });
    },
    leaves: ["invitation.cancel"],
  },
  "POST /console/logins/:id/end": {
    async ask(site) {
      const { loginSessionId } = await site.signedIn("member");
      return onConsole(site, { action: `/console/logins/${loginSessionId}/end` });
    },
    leaves: ["login_session.revoke"],
  },
  "POST /console/logins/end-all": {
    async ask(site) {
      const sent = await onConsole(site, { action: "/console/logins/end-all" });
      const fields = new URLSearchParams(String(sent.body));
      fields.set("typed", fields.get("count") ?? "");
      return { ...sent, body: fields.toString() };
    },
    leaves: ["logins.revoke_all"],
    site: createTestServer,
  },
  "POST /console/users/:id/:action": {
    async ask(site) {
      const { user } = await site.signedIn("member");
      return onConsole(site, { action: `/console/users/${user.id}/suspend` });
    },
    leaves: ["user.update"],
  },
  "POST /console/harnesses/:harness": {
    async ask(site) {
      await publishFirst(site);
      return onConsole(site, { action: "/console/harnesses/codex", fields: { settings: "model: x" } });
    },
    leaves: ["policy_draft.create"],
  },
  "GET /console/mcp.csv": {
    ask: async (site) => ({ cookie: (await site.signedIn("admin")).cookie }),
    leaves: ["list.export"],
  },
  "POST /console/mcp/new": {
    async ask(site) {
      await publishFirst(site);
      const fields = { name: "docs", kind: "local", command: "npx", harness_codex: "yes" };
      return onConsole(site, { action: "/console/mcp/new", fields });
    },
    leaves: ["policy_draft.create"],
  },
  "POST /console/mcp/:name": {
    async ask(site) {
      await publishFirst(site);
      const caller = await site.signedIn("admin");
      const server = { name: "docs", command: "npx" };
      await site.domain.governance.drafts.saveMcp(caller.actor, { version: 0 }, { codex: [server] });
      return onConsole(site, {
        action: "/console/mcp/docs",
        caller,
        fields: { kind: "local", command: "uvx" },
      });
    },
    changes: ["policy_drafts"],
    why: "the draft was recorded when it was created",
  },
  "POST /console/packages/:id/audience": {
    async ask(site) {
      const { user } = await site.signedIn("member");
      await publishFirst(site);
      await publishPackages(site, { packages: [packageOf("guide")] });
      const fields = { act: "save", scope: "users", addresses: user.email };
      return onConsole(site, { action: "/console/packages/guide/audience", fields });
    },
    leaves: ["policy_draft.create"],
  },
  "POST /console/packages/:id": {
    ask: (site) => onPackage(site, ""),
    leaves: ["policy_draft.create"],
  },
  "POST /console/catalog/import": {
    ask: (site) => withArchive(site, "/console/catalog/import", "/console/catalog/import"),
    changes: [],
    why: "the bundle is kept as a file; the catalog changes when its plan is accepted",
  },
  "POST /console/catalog/import/plan": { ask: onKeptBundle, leaves: ["catalog.import"] },
  "POST /admin/catalog/import": {
    async ask(site) {
      const query = new URLSearchParams({ trust: BUNDLE_SIGNER.publicKey, keep: "true" });
      const body = Buffer.from(await bundleFor(site));
      return asAdmin(site, { path: `/admin/catalog/import?${query}`, body });
    },
    leaves: ["catalog.import"],
  },
  "POST /console/packages/new": {
    ask: (site) => onNewPackage(site, ""),
    leaves: ["package_addition.drop"],
  },
  "POST /console/packages/new/upload": {
    ask: (site) => withArchive(site, UPLOAD_PATH, "/console/packages/new"),
    leaves: ["artifact.upload", "package_addition.start"],
  },
  "POST /console/packages/new/identity": asStep("/identity"),
  "POST /console/packages/new/layout": asStep("/layout"),
  "POST /console/packages/new/audience": asStep("/audience"),
  "POST /console/packages/new/check": {
    ask: (site) => onNewPackage(site, "/check"),
    leaves: ["policy_draft.create"],
  },
  "POST /console/catalog/:id": {
    async ask(site) {
      await publishFirst(site);
      await seedCatalog(site, [packageOf("guide")]);
      return onConsole(site, { action: "/console/catalog/guide" });
    },
    leaves: ["policy_draft.create"],
  },
  "GET /console/catalog.csv": {
    ask: async (site) => ({ cookie: (await site.signedIn("admin")).cookie }),
    leaves: ["list.export"],
  },
  "POST /console/packages/:id/remove": {
    ask: (site) => onPackage(site, "/remove"),
    leaves: ["policy_draft.create"],
  },
  "POST /console/policy/conflicts": {
    async ask(site) {
      await publishConflict(site);
      const fields = { keep: "/ttl_seconds" };
      return onConsole(site, { page: "/console/policy", action: "/console/policy/conflicts", fields });
    },
    leaves: ["policy_conflict.keep"],
  },
  "POST /console/policy/edit": {
    async ask(site) {
      await publishFirst(site);
      return onConsole(site, {
        action: "/console/policy/edit",
        fields: { text: managedText({ required: true }) },
      });
    },
    leaves: ["policy_draft.create"],
  },
  "POST /console/policy/review": {
    ask: async (site) => onDraft(site, { action: "/console/policy/review" }),
    leaves: ["policy.publish"],
  },
  "POST /console/policy/review/share": {
    ask: async (site) =>
      onDraft(site, { page: "/console/policy/review", action: "/console/policy/review/share" }),
    leaves: ["policy_draft.share"],
  },
  "POST /console/policy/merge": {
    async ask(site) {
      const caller = await site.signedIn("admin");
      await savedDraft(site, caller);
      await publishAgain(site, caller);
      return onConsole(site, { page: "/console/policy/review", action: "/console/policy/merge", caller });
    },
    changes: ["policy_drafts"],
    why: "a draft is not in force; its publication is recorded",
  },
  "POST /console/policy/history/:revision/draft": {
    async ask(site) {
      const id = await publishFirst(site);
      await publishAgain(site, await site.signedIn("admin"));
      const page = `/console/policy/history/${id}`;
      return onConsole(site, { page, action: `${page}/draft` });
    },
    leaves: ["policy_draft.create"],
  },
  "POST /console/policy/discard": {
    ask: async (site) => onDraft(site, { action: "/console/policy/discard" }),
    leaves: ["policy_draft.discard"],
  },
  "POST /console/branding": {
    ask: (site) =>
      onConsole(site, {
        action: "/console/branding",
        fields: { logo_url: "https://img.example.com/console.png" },
      }),
    leaves: ["branding.update"],
  },
  "POST /console/system/backups": {
    ask: (site) => onConsole(site, { action: "/console/system/backups" }),
    leaves: ["backup.create"],
  },
  "POST /console/system/backups/verify": {
    async ask(site) {
      await site.request("POST", "/admin/backups", bearer(await site.signedIn("admin")));
      return onConsole(site, { page: "/console/system/backups", action: "/console/system/backups/verify" });
    },
    why: "it reads",
  },
  "POST /console/system/keys/:kind/rotate": {
    ask: (site) =>
      onConsole(site, { action: "/console/system/keys/access_tokens/rotate", fields: { typed: "rotate" } }),
    leaves: ["signing_key.rotate"],
  },
  "POST /login": {
    async ask(site) {
      await site.signedIn("member", { email: CREDENTIAL.email });
      const browser = browse(site);
      return filledIn(browser, await browser.visit("/login"), { action: "/login", fields: CREDENTIAL });
    },
    leaves: ["login_session.open"],
  },
  "POST /device": {
    async ask(site) {
      const browser = await signedInBrowser(site);
      const { userCode } = await begin(site);
      const page = await browser.visit("/device");
      return filledIn(browser, page, { action: "/device", fields: { user_code: userCode } });
    },
    changes: ["budgets", "device_logins"],
    why: "opens the question; the decision on it is what counts",
  },
  "POST /device/:token": {
    ask: (site) => decided(site, ({ linkToken }) => `/device/${linkToken}`),
    leaves: ["device_login.approve"],
  },
  "POST /device/confirm": {
    async ask(site) {
      const browser = await signedInBrowser(site);
      const { userCode } = await begin(site);
      const entry = formTo(await browser.visit("/device"), "/device");
      const page = await browser.submit(entry, { user_code: userCode });
      return filledIn(browser, page, { action: "/device/confirm", fields: { decision: "approve" } });
    },
    leaves: ["device_login.approve"],
  },
  "POST /account/password": {
    async ask(site) {
      const fields = { current_password: PASSWORD, new_password: NEW_PASSWORD };
      return onAccountPage(site, { action: "/account/password", fields });
    },
    leaves: ["user.change_password"],
  },
  "POST /login/second-factor": {
    async ask(site) {
      const { codes } = await withApp(site);
      const { browser, page } = await afterPassword(site);
      return filledIn(browser, page, { action: "/login/second-factor", fields: { code: codes[0] ?? "" } });
    },
    leaves: ["login_session.open"],
  },
  "POST /login/second-factor/setup/authenticator-app": {
    site: sameStrict,
    async ask(site) {
      await site.signedIn("member", { email: CREDENTIAL.email });
      const { browser } = await afterPassword(site);
      const action = "/login/second-factor/setup/authenticator-app";
      return withAppCode(site, browser, await browser.visit(action), action);
    },
    leaves: ["second_factor.add", "login_session.open"],
  },
  "POST /login/second-factor/setup/passkey": {
    site: sameStrict,
    async ask(site) {
      await site.signedIn("member", { email: CREDENTIAL.email });
      const { browser } = await afterPassword(site);
      const action = "/login/second-factor/setup/passkey";
      const page = await browser.visit(action);
      const response = createAuthenticator(BASE_URL).create(passkeyOptionsIn(page));
      return filledIn(browser, page, { action, fields: { answer: response } });
    },
    leaves: ["second_factor.add", "login_session.open"],
  },
  "POST /account/second-factor/confirm": {
    async ask(site) {
      const { browser, codes } = await withApp(site);
      const action = `${FACTORS}/confirm`;
      return filledIn(browser, await browser.visit(action), { action, fields: { code: codes[0] ?? "" } });
    },
    leaves: ["login_session.confirm"],
  },
  "POST /account/second-factor/authenticator-app": {
    async ask(site) {
      const browser = await signedInBrowser(site);
      const action = `${FACTORS}/authenticator-app`;
      return withAppCode(site, browser, await browser.visit(action), action);
    },
    leaves: ["second_factor.add"],
  },
  "POST /account/second-factor/authenticator-app/remove": {
    async ask(site) {
      const { browser } = await withApp(site);
      return filledIn(browser, await browser.visit(FACTORS), {
        action: `${FACTORS}/authenticator-app/remove`,
      });
    },
    leaves: ["second_factor.remove"],
  },
  "POST /account/second-factor/passkeys/new": {
    async ask(site) {
      const browser = await signedInBrowser(site);
      const action = `${FACTORS}/passkeys/new`;
      const page = await browser.visit(action);
      const response = createAuthenticator(BASE_URL).create(passkeyOptionsIn(page));
      return filledIn(browser, page, { action, fields: { answer: response } });
    },
    leaves: ["second_factor.add"],
  },
  "POST /account/second-factor/passkeys/:id/remove": {
    async ask(site) {
      const browser = await withPasskey(site);
      const page = await browser.visit(FACTORS);
      const action = page.forms.find(({ action }) => /passkeys.*remove/.test(action))?.action ?? "";
      return filledIn(browser, page, { action });
    },
    leaves: ["second_factor.remove"],
  },
  "POST /account/second-factor/recovery-codes": {
    async ask(site) {
      const { browser } = await withApp(site);
      return filledIn(browser, await browser.visit(FACTORS), { action: `${FACTORS}/recovery-codes` });
    },
    leaves: ["second_factor.renew_recovery_codes"],
  },
  "POST /account/logins/:id/end": {
    async ask(site) {
      const browser = await signedInBrowser(site);
      const [workstation] = site.domain.access.logins.list({ kind: "grant" }).items;
      const action = `/account/logins/${workstation?.id}/end`;
      return ownForm(browser, { action });
    },
    leaves: ["grant.revoke"],
  },
  "POST /account/sign-out-everywhere": {
    async ask(site) {
      const browser = await signedInBrowser(site);
      const page = await browser.visit("/account/sign-out-everywhere");
      return filledIn(browser, page, { action: "/account/sign-out-everywhere" });
    },
    leaves: ["user.revoke_logins"],
  },
  "POST /account/gateway-key/ensure": {
    site: sameGateway,
    ask: (site) => onAccountPage(site, { action: "/account/gateway-key/ensure" }),
    leaves: ["gateway_key.provision"],
  },
  "POST /account/gateway-key/validate": {
    site: sharedServer(createGatewayServer), // the gateway still knows the keys of its users
    ask: (site) => withOwnKey(site, "/account/gateway-key/validate"),
    why: "asks the gateway whether the key is still good",
  },
  "POST /account/gateway-key/rotate": {
    site: sharedServer(createGatewayServer), // the gateway still knows the keys of its users
    ask: (site) => withOwnKey(site, "/account/gateway-key/rotate"),
    leaves: ["gateway_key.provision"],
  },
  "POST /account/gateway-key/revoke": {
    site: sameGateway,
    ask: (site) => withOwnKey(site, "/account/gateway-key/revoke"),
    leaves: ["gateway_key.revoke"],
  },
  "POST /console/me/account/password": {
    async ask(site) {
      const fields = { current_password: PASSWORD, new_password: NEW_PASSWORD };
      return onAccountPage(site, { action: "/console/me/account/password", fields });
    },
    leaves: ["user.change_password"],
  },
  "POST /console/me/logins/:id/end": {
    async ask(site) {
      const browser = await signedInBrowser(site);
      const [workstation] = site.domain.access.logins.list({ kind: "grant" }).items;
      return ownForm(browser, { action: `/console/me/logins/${workstation?.id}/end` });
    },
    leaves: ["grant.revoke"],
  },
  "POST /console/me/logins/end-others": {
    ask: (site) => onAccountPage(site, { action: "/console/me/logins/end-others" }),
    leaves: ["user.revoke_logins"],
  },
  "POST /console/me/workstations/:id/sign-out": {
    async ask(site) {
      const { accessToken: token } = await site.signedIn("member", { email: CREDENTIAL.email });
      await site.request("POST", "/client-status", { token, body: reportWith() });
      const [client] = site.domain.clients.inventory.list(site.world.organizationId, {}).items;
      const { browser } = await afterPassword(site);
      return ownForm(browser, { action: `/console/me/workstations/${client?.id}/sign-out` });
    },
    leaves: ["grant.revoke"],
  },
  "POST /console/me/key/ensure": {
    site: sharedServer(createGatewayServer), // the gateway still knows the keys of its users
    ask: (site) => onAccountPage(site, { action: "/console/me/key/ensure" }),
    leaves: ["gateway_key.provision"],
  },
  "POST /console/me/key/validate": {
    site: sharedServer(createGatewayServer), // the gateway still knows the keys of its users
    ask: (site) => withOwnKey(site, "/console/me/key/validate"),
    why: "asks the gateway whether the key is still good",
  },
  "POST /console/me/key/rotate": {
    site: sharedServer(createGatewayServer), // the gateway still knows the keys of its users
    ask: (site) => withOwnKey(site, "/console/me/key/rotate"),
    leaves: ["gateway_key.provision"],
  },
  "POST /console/me/key/revoke": {
    site: sameGateway,
    ask: (site) => withOwnKey(site, "/console/me/key/revoke"),
    leaves: ["gateway_key.revoke"],
  },
  "POST /me/logins/revoke-others": {
    ask: async (site) => ({ cookie: (await site.signedIn("member")).cookie }),
    leaves: ["user.revoke_logins"],
  },
  "POST /me/password": {
    ask: async ({ signedIn }) => ({
      cookie: (await signedIn("member")).cookie,
      body: { current_password: PASSWORD, new_password: NEW_PASSWORD },
    }),
    leaves: ["user.change_password"],
  },
  "DELETE /me/logins/:id": {
    async ask({ signedIn }) {
      const caller = await signedIn("member");
      return { ...bearer(caller), path: `/me/logins/${caller.loginSessionId}` };
    },
    leaves: ["login_session.revoke"],
  },
  "POST /admin/jobs/:name/run": {
    ask: (site) => onJob(site, "run"),
    leaves: ["job.run"],
  },
  "POST /admin/jobs/:name/pause": {
    ask: (site) => onJob(site, "pause"),
    leaves: ["job.pause"],
  },
  "POST /admin/jobs/:name/resume": {
    ask: (site) => onJob(site, "resume"),
    leaves: ["job.resume"],
  },
  "POST /admin/keys/:kind/rotate": {
    ask: (site) => asAdmin(site, { path: "/admin/keys/access_tokens/rotate" }),
    leaves: ["signing_key.rotate"],
  },
  "POST /admin/keys/:kind/rotate, of the sealing key": {
    ask: (site) => asAdmin(site, { path: "/admin/keys/sealing/rotate" }),
    leaves: ["sealing_key.rotate"],
  },
  "POST /admin/backups": {
    ask: asAdmin,
    leaves: ["backup.create"],
  },
  "POST /admin/backups/:id/verify": {
    async ask(site) {
      const caller = await site.signedIn("admin");
      const made = await site.request("POST", "/admin/backups", bearer(caller));
      const { id } = await made.json();
      return { ...bearer(caller), path: `/admin/backups/${id}/verify` };
    },
    why: "it reads",
  },
  "POST /admin/doctor/examination": {
    ask: asAdmin,
    why: "it reads",
  },
  "POST /admin/audit/verify": {
    ask: asAdmin,
    why: "it reads",
  },
  "POST /admin/scim/tokens": {
    ask: (site) => asAdmin(site, { body: { label: "entra" } }),
    leaves: ["scim_token.create"],
  },
  "DELETE /admin/scim/tokens/:id": {
    async ask(site) {
      const input = { label: "entra", profile: "entra" };
      const { view } = await site.domain.scim.tokens.create(site.world.system, input);
      return asAdmin(site, { path: `/admin/scim/tokens/${view.id}` });
    },
    leaves: ["scim_token.revoke"],
  },
  "POST /admin/logins/:id/revoke": {
    async ask(site) {
      const { loginSessionId } = await site.signedIn("member");
      return asAdmin(site, { path: `/admin/logins/${loginSessionId}/revoke` });
    },
    leaves: ["login_session.revoke"],
  },
  "POST /admin/logins/revoke": {
    ask: (site) => asAdmin(site, { body: { all: true } }),
    leaves: ["logins.revoke_all"],
  },
  "POST /admin/logins/revoke, of one user": {
    ask: async (site) => asAdmin(site, { body: { user_id: (await site.signedIn("member")).user.id } }),
    leaves: ["user.revoke_logins"],
  },
  "POST /accept-invitation": {
    async ask(site) {
      const { token } = await invite(site);
      const browser = browse(site);
      const page = await browser.visit(`/accept-invitation?token=${token.reveal()}`);
      return filledIn(browser, page, { action: "/accept-invitation", fields: { password: PASSWORD } });
    },
    leaves: ["invitation.accept", "user.create"],
  },
  "POST /set-password": {
    async ask(site) {
      const { user } = await site.signedIn("member");
      const { token } = await site.domain.identity.passwordLinks.create(site.world.system, user.id);
      const browser = browse(site);
      const page = await browser.visit(`/set-password?token=${token.reveal()}`);
      return filledIn(browser, page, { action: "/set-password", fields: { password: PASSWORD } });
    },
    leaves: ["user.password_set"],
  },
  "POST /admin/package-source/inspect": {
    site: withPublicSources,
    ask: (site) => asAdmin(site, { body: { source_ref: `${host.origin()}/tool.tar.gz` } }),
    leaves: ["artifact.mirror"],
  },
  "POST /hooks/source/:connectionId": {
    site: withConnection,
    async ask({ world: { clock, db } }) {
      await db.write((tx) => addJob(tx, "source-watch", clock.nowMs()), "jobs");
      return { path: "/hooks/source/host", headers: { "x-gitlab-token": WEBHOOK_SECRET }, body: {} };
    },
    changes: ["source_announcements"],
    why: "a host announces each of its commits, and nothing was looked up yet",
  },
  "POST /admin/package-source/upload": {
    ask: (site) =>
      asAdmin(site, {
        path: "/admin/package-source/upload?name=tool.tar.gz",
        body: Buffer.from(tarGzOf(tarFile("run"))),
      }),
    leaves: ["artifact.upload"],
  },
  "POST /package-artifacts/:id/download": {
    ask: (site) => asAdmin(site, { path: `/package-artifacts/${UNKNOWN_ID}/download` }),
    status: 404,
    why: "computes a link and stores nothing",
  },
  "PUT /admin/governance-config": {
    async ask(site) {
      const base_revision = await publishFirst(site);
      return asAdmin(site, { body: { base_revision, managed_yaml: managedText({ required: true }) } });
    },
    leaves: ["policy.publish"],
  },
  "PUT /admin/governance-extensions": {
    async ask(site) {
      const base_revision = await publishFirst(site);
      return asAdmin(site, { body: { base_revision, packages: [packageOf("one")] } });
    },
    leaves: ["policy.publish"],
  },
  "PUT /admin/harnesses/:harness/managed-config": {
    async ask(site) {
      const base_revision = await publishFirst(site);
      const path = "/admin/harnesses/codex/managed-config";
      return asAdmin(site, { path, body: { base_revision, managed_config_yaml: "model: x\n" } });
    },
    leaves: ["policy.publish"],
  },
  "POST /admin/governance-config/rollback": {
    async ask(site) {
      const revision = await publishFirst(site);
      const { accessToken: token } = await site.signedIn("admin");
      const publication = { base_revision: revision, managed_yaml: managedText({ required: true }) };
      const next = await site.request("PUT", "/admin/governance-config", { token, body: publication });
      return { token, body: { revision, base_revision: (await next.json()).revision } };
    },
    leaves: ["policy.rollback"],
  },
  "POST /admin/governance-config/check": {
    async ask(site) {
      await publishFirst(site);
      return asAdmin(site, { body: { managed_yaml: managedText({}) } });
    },
    why: "nothing is saved",
  },
  "POST /admin/governance-config/impact": {
    ask: async (site) => ({ ...(await savedDraft(site)), body: {} }),
    why: "a question; nothing is saved",
  },
  "PUT /admin/policy-draft": {
    async ask(site) {
      await publishFirst(site);
      return asAdmin(site, { body: { version: 0, managed_yaml: managedText({ required: true }) } });
    },
    leaves: ["policy_draft.create"],
  },
  "POST /admin/governance-config/deployment-conflicts/keep": {
    async ask(site) {
      await publishConflict(site);
      const { version } = await site.domain.governance.fileConflicts.list(site.world.organizationId);
      return { ...(await asAdmin(site)), body: { version, paths: ["/ttl_seconds"] } };
    },
    leaves: ["policy_conflict.keep"],
  },
  "POST /admin/policy-draft/merge": {
    ask: async (site) => ({ ...(await savedDraft(site)), body: { version: 1 } }),
    why: "a draft is not in force; its publication is recorded",
  },
  "POST /admin/policy-draft/publish": {
    ask: async (site) => ({ ...(await savedDraft(site)), body: { version: 1 } }),
    leaves: ["policy.publish"],
  },
  "DELETE /admin/policy-draft": {
    ask: (site) => savedDraft(site),
    leaves: ["policy_draft.discard"],
  },
  "POST /admin/gateway/models/refresh": {
    site: sameGateway,
    async ask(site) {
      await publishFirst(site);
      return asAdmin(site);
    },
    leaves: ["model_catalog.refresh"],
  },
  "POST /admin/gateway/models/acknowledge": {
    site: sameGateway,
    async ask(site) {
      const fingerprint = await withChangedModel(site);
      return asAdmin(site, { body: { model_id: "model-a", fingerprint } });
    },
    leaves: ["model_catalog.acknowledge"],
  },
  "PUT /admin/gateway/models/harnesses/:harness": {
    site: sameGateway,
    async ask(site) {
      const base_revision = await publishFirst(site);
      const path = "/admin/gateway/models/harnesses/codex";
      return asAdmin(site, { path, body: { base_revision, gateway_models: ["model-a"] } });
    },
    leaves: ["policy.publish"],
  },
  "POST /client-status": {
    ask: async (site) => ({ ...(await asMember(site)), body: reportWith() }),
    changes: ["client_reports", "client_search_entries", "users"],
    why: "what a workstation says of itself, every few minutes",
  },
  "DELETE /admin/client-status/:id": {
    ask: async (site) => asAdmin(site, { path: `/admin/client-status/${await reportedBy(site)}` }),
    leaves: ["client.remove"],
  },
  "POST /admin/client-status/remove": {
    ask: async (site) => asAdmin(site, { body: { ids: [await reportedBy(site)] } }),
    leaves: ["clients.remove", "client.remove"],
  },
  "POST /admin/client-status/revoke": {
    ask: async (site) => asAdmin(site, { body: { ids: [await reportedBy(site)] } }),
    leaves: ["clients.revoke", "client.revoke"],
  },
  "POST /admin/users/change": {
    async ask(site) {
      const { user } = await site.signedIn("member");
      return asAdmin(site, { body: { action: "end_logins", ids: [user.id] } });
    },
    leaves: ["users.revoke_logins", "user.revoke_logins"],
  },
  "POST /admin/users/options": { ask: (site) => asAdmin(site, { body: {} }), why: "a question" },
  "PATCH /admin/users/:id": {
    async ask(site) {
      const { user } = await site.signedIn("member");
      return asAdmin(site, { path: `/admin/users/${user.id}`, body: { role: "admin" } });
    },
    leaves: ["user.update"],
  },
  "DELETE /admin/users/:id": {
    async ask(site) {
      const { user } = await site.signedIn("member");
      return asAdmin(site, { path: `/admin/users/${user.id}` });
    },
    leaves: ["user.remove"],
  },
  "POST /admin/users/:id/password-link": {
    async ask(site) {
      const { user } = await site.signedIn("member");
      return asAdmin(site, { path: `/admin/users/${user.id}/password-link` });
    },
    leaves: ["user.password_link"],
  },
  "POST /admin/users/:id/sessions/revoke": {
    async ask(site) {
      const { user } = await site.signedIn("member");
      return asAdmin(site, { path: `/admin/users/${user.id}/sessions/revoke` });
    },
    leaves: ["user.revoke_logins"],
  },
  "POST /admin/invitations": {
    ask: (site) => asAdmin(site, { body: { email: "bob@example.com", role: "member" } }),
    leaves: ["invitation.create"],
  },
  "DELETE /admin/invitations/:id": {
    ask: async (site) => asAdmin(site, { path: `/admin/invitations/${(await invite(site)).invitation.id}` }),
    leaves: ["invitation.cancel"],
  },
  "POST /admin/invitations/:id/resend": {
    ask: async (site) =>
      asAdmin(site, { path: `/admin/invitations/${(await invite(site)).invitation.id}/resend` }),
    leaves: ["invitation.resend"],
  },
  "POST /admin/invitations/:id/regenerate": {
    ask: async (site) =>
      asAdmin(site, { path: `/admin/invitations/${(await invite(site)).invitation.id}/regenerate` }),
    leaves: ["invitation.regenerate"],
  },
  "PUT /admin/branding/logo": {
    ask: (site) => asAdmin(site, { body: Buffer.from(IMAGE) }),
    leaves: ["branding.update"],
  },
  "PUT /admin/branding/icon": {
    ask: (site) => asAdmin(site, { body: Buffer.from(IMAGE) }),
    leaves: ["branding.update"],
  },
  "POST /console/branding/logo": {
    ask: (site) => withImage(site, "/console/branding/logo"),
    leaves: ["branding.update"],
  },
  "POST /console/branding/icon": {
    ask: (site) => withImage(site, "/console/branding/icon"),
    leaves: ["branding.update"],
  },
  "PUT /admin/branding": {
    ask: (site) => asAdmin(site, { body: { logo_url: "https://example.com/logo.png", favicon_url: null } }),
    leaves: ["branding.update"],
  },
  "POST /gateway/key/ensure": { site: sameGateway, ask: asMember, leaves: ["gateway_key.provision"] },
  "POST /gateway/key/validate": {
    site: sameGateway,
    async ask(site) {
      const { caller } = await withInferenceToken(site);
      return bearer(caller);
    },
    changes: [],
    why: "asks the gateway whether the key is still good",
  },
  "POST /gateway/key/rotate": {
    site: sameGateway,
    ask: async (site) => bearer((await withInferenceToken(site)).caller),
    leaves: ["gateway_key.provision"],
  },
  "POST /gateway/key/revoke": {
    site: sameGateway,
    ask: async (site) => bearer((await withInferenceToken(site)).caller),
    leaves: ["gateway_key.revoke"],
  },
  "POST /admin/gateway/keys/:user/ensure": {
    site: sameGateway,
    ask: async (site) => {
      const { user } = await site.signedIn("member");
      return asAdmin(site, { path: `/admin/gateway/keys/${user.id}/ensure` });
    },
    leaves: ["gateway_key.provision"],
  },
  "POST /admin/gateway/keys/:user/rotate": {
    site: sameGateway,
    ask: async (site) => {
      const { user } = (await withInferenceToken(site)).caller;
      return asAdmin(site, { path: `/admin/gateway/keys/${user.id}/rotate` });
    },
    leaves: ["gateway_key.provision"],
  },
  "POST /admin/gateway/keys/:user/revoke": {
    site: sameGateway,
    ask: async (site) => {
      const { user } = (await withInferenceToken(site)).caller;
      return asAdmin(site, { path: `/admin/gateway/keys/${user.id}/revoke` });
    },
    leaves: ["gateway_key.revoke"],
  },
  "POST /admin/gateway/keys/change": {
    site: sameGateway,
    async ask(site) {
      const { user } = await site.signedIn("member");
      return asAdmin(site, { body: { action: "ensure", ids: [user.id] } });
    },
    leaves: ["gateway_keys.change", "gateway_key.provision"],
  },
  "POST /console/gateway": {
    site: sameGateway,
    ask: (site) => onConsole(site, { action: "/console/gateway" }),
    why: "a question",
  },
  "POST /console/gateway/models/refresh": {
    site: sameGateway,
    ask: (site) =>
      onConsole(site, { action: "/console/gateway/models/refresh", page: "/console/gateway/models" }),
    leaves: ["model_catalog.refresh"],
  },
  "POST /console/gateway/models/model": {
    site: sameGateway,
    async ask(site) {
      await withChangedModel(site);
      return onConsole(site, { action: "/console/gateway/models/model?id=model-a" });
    },
    leaves: ["model_catalog.acknowledge"],
  },
  "POST /console/gateway/models/harnesses/:harness": {
    site: sameGateway,
    async ask(site) {
      await publishFirst(site);
      const fields = { others: "model-a" };
      return onConsole(site, { action: "/console/gateway/models/harnesses/codex", fields });
    },
    leaves: ["policy_draft.create"],
  },
  "POST /console/gateway/keys/:user/:action": {
    site: sameGateway,
    ask: async (site) => {
      const { user } = await site.signedIn("member");
      return onConsole(site, { action: `/console/gateway/keys/${user.id}/ensure` });
    },
    leaves: ["gateway_key.provision"],
  },
  "POST /console/gateway/keys/action": {
    site: sameGateway,
    async ask(site) {
      const [one, other] = [await site.signedIn("member"), await site.signedIn("member")];
      const page = `/console/gateway/keys/action?act=ensure&id=${one.user.id}&id=${other.user.id}`;
      return onConsole(site, { page, action: "/console/gateway/keys/action" });
    },
    leaves: ["gateway_keys.change", "gateway_key.provision"],
  },
  "POST /console/gateway/keys/reconcile": {
    site: sameGateway,
    ask: (site) => onConsole(site, { action: "/console/gateway/keys/reconcile" }),
    leaves: ["gateway_key.reconcile"],
  },
  "POST /admin/gateway/keys/reconcile": {
    site: sameGateway,
    ask: asAdmin,
    leaves: ["gateway_key.reconcile"],
  },
  "POST /gateway/proxy/health": { site: sameGateway, ask: asAdmin, why: "a question" },
  "POST /gateway/session/revoke": {
    site: sameGateway,
    ask: async (site) => bearer((await withInferenceToken(site)).caller),
    leaves: ["gateway_session.revoke"],
  },
  "POST /gateway/token": {
    site: sameGateway,
    async ask(site) {
      const caller = await site.signedIn("member");
      await site.request("POST", "/gateway/key/ensure", bearer(caller));
      return bearer(caller);
    },
    changes: ["gateway_sessions"],
    why: "a token of a login that has its entry, for every few hours",
  },
  "POST /internal/gateway/resolve": {
    site: sameGateway,
    ask: async (site) => ({ token: PROXY_TOKEN, body: (await withInferenceToken(site)).body }),
    why: "a question, with every request to a model",
  },
  "POST /internal/gateway/credential-invalid": {
    site: sameGateway,
    ask: async (site) => ({ token: PROXY_TOKEN, body: (await withInferenceToken(site)).invalid }),
    leaves: ["gateway_key.invalidate", "gateway_key.provision"],
  },
  "POST /internal/gateway/request-logs": {
    site: sameGateway,
    ask: async (site) => ({ token: PROXY_TOKEN, body: await loggedRequest(site) }),
    changes: [],
    why: "one for every request to a model, into a separate log",
  },
  "POST /internal/gateway/request-logs/batch": {
    site: sameGateway,
    ask: async (site) => ({ token: PROXY_TOKEN, body: { events: [await loggedRequest(site)] } }),
    changes: [],
    why: "one for every request to a model, into a separate log",
  },
  "GET /governance-config": {
    site: sameGateway,
    async ask(site) {
      await publishFirst(site);
      return { ...(await asMember(site)), headers: UP_TO_DATE };
    },
    leaves: ["gateway_key.provision"],
  },
  "GET /device/:token": looked(({ linkToken }) => `/device/${linkToken}`, ["device_logins"]),
  "GET /api/device/:token": looked(({ linkToken }) => `/api/device/${linkToken}`, ["device_logins"]),
  "GET /api/auth/device": looked(
    ({ userCode }) => `/api/auth/device?user_code=${userCode}`,
    ["budgets", "device_logins"],
  ),
  "POST /scim/v2/Users": { ask: async () => scim(USER), leaves: ["scim_user.create"] },
  "PUT /scim/v2/Users/:id": {
    ask: async (site) => scim({ ...USER, displayName: "Bob" }, await provisioned(site, USER)),
    leaves: ["scim_user.update"],
  },
  "PATCH /scim/v2/Users/:id": {
    ask: async (site) => scim(replace("active", false), await provisioned(site, USER)),
    leaves: ["scim_user.update"],
  },
  "DELETE /scim/v2/Users/:id": {
    ask: async (site) => scim(undefined, await provisioned(site, USER)),
    leaves: ["scim_user.remove"],
  },
  "POST /scim/v2/Groups": { ask: async () => scim(GROUP), leaves: ["scim_group.create"] },
  "PUT /scim/v2/Groups/:id": {
    ask: async (site) => scim({ ...GROUP, displayName: "All" }, await provisioned(site, GROUP)),
    leaves: ["scim_group.update"],
  },
  "PATCH /scim/v2/Groups/:id": {
    ask: async (site) => scim(replace("displayName", "All"), await provisioned(site, GROUP)),
    leaves: ["scim_group.update"],
  },
  "DELETE /scim/v2/Groups/:id": {
    ask: async (site) => scim(undefined, await provisioned(site, GROUP)),
    leaves: ["scim_group.remove"],
  },
  "POST /scim/v2/Users/.search": searched,
  "POST /scim/v2/Groups/.search": searched,
  "POST /scim/v2/.search": searched,
  "POST /scim/v2/Bulk": {
    async ask() {
      const Operations = [
        { method: "POST", path: "/Users", bulkId: "1", data: USER },
        { method: "POST", path: "/Groups", bulkId: "2", data: GROUP },
      ];
      return scim({ schemas: [BULK_REQUEST], Operations });
    },
    leaves: ["scim_group.create", "scim_user.create"],
  },
};

/** Waits for background work of requests. */
async function settled({ domain, world }: TestServer): Promise<void> {
  await domain.gateway.keys.attempts?.drain();
  await world.db.write(() => {}, "unobserved"); // commits the writes that wait to share a commit
}

const routeIn = (name: string): string => name.split(",")[0] ?? name;

test.each(Object.entries(CASES))("API-6 %s writes the required audit entries", async (name, wanted) => {
  const { ask, site: createSite = sameServer, status, ...expected } = wanted;
  const site = await createSite();
  const [method = "", path = ""] = routeIn(name).split(" ");
  const { path: input = path, ...sent } = await ask(site);
  await settled(site);
  let answered = 0;
  const traces = await tracesOf(site.world.file, expected, async () => {
    const response = await site.request(method, input, sent);
    await response.bytes(); // an export is recorded after its last row
    answered = response.status;
    await settled(site);
  });
  expect(answered).toSatisfy((found) => (status === undefined ? found < 400 : found === status));
  expect(inTermsOf(expected, traces)).toEqual(wantedOf(expected));
});

test("every other GET changes nothing", async () => {
  const site = await sameGateway();
  await publishFirst(site);
  const caller = await site.signedIn("admin");
  await site.request("GET", "/scim/v2/Users", scim()); // the time of a token's first use is stored with the token
  await site.domain.usage.flush(); // counts of other tests
  await settled(site);
  const others = (await site.server.allRoutes()).filter(
    ({ method, path }) => method === "GET" && !(`GET ${path}` in CASES),
  );
  const found: Record<string, string[]> = {};
  using watch = watchOf(site.world.file);
  for (const { path, hooks } of others) {
    const input = path.replaceAll(/:\w+/g, UNKNOWN_ID);
    const response = await site.request("GET", input, opening(hooks.detail?.["x-requires"], caller));
    await response.body?.cancel();
    expect([401, 403]).not.toContain(response.status);
    await settled(site);
    const traces = watch.traces();
    if (traces.actions.length + traces.tables.length > 0) found[path] = [...traces.actions, ...traces.tables];
  }
  expect(found).toEqual({});
});

/** @returns the requirement of a route */
function opening(requirement: Requirement | undefined, caller: Caller): Sent {
  if (requirement === "scim") return { token: SCIM_TOKEN };
  if (requirement === "metrics") return { token: METRICS_TOKEN };
  return requirement === "session" ? { cookie: caller.cookie } : bearer(caller);
}

test("the table lists every route that may change something", async () => {
  const site = await sameGateway();
  const changing = (await site.server.allRoutes())
    .filter(({ method }) => method !== "GET" && method !== "ALL") // ALL responses methods that a path does not have
    .map(({ method, path }) => `${method} ${path}`);
  const listed = new Set(
    Object.keys(CASES)
      .map(routeIn)
      .filter((name) => !name.startsWith("GET ")),
  );
  expect([...listed].sort()).toEqual(changing.sort());
});

test("every route without an audit entry states the reason", () => {
  const silent = Object.entries(CASES).filter(
    ([, { leaves, why }]) => leaves === undefined && why === undefined,
  );
  expect(silent.map(([name]) => name)).toEqual([]);
});

test("API-6 an entry names the credential that was used and never its secret", async () => {
  const site = await sameServer();
  const caller = await site.signedIn("admin");
  const body = { logo_url: null, favicon_url: "https://example.com/icon.png" };
  const named = async (sent: Sent) => {
    expect((await site.request("PUT", "/admin/branding", { ...sent, body })).status).toBe(200);
    body.favicon_url += "x";
    const [newest] = site.domain.auditLog.list(site.world.organizationId, {}).items;
    return newest?.credential;
  };
  const grantId = site.domain.access.tokens.read(caller.accessToken).claims.grant_id;
  expect(await named(bearer(caller))).toBe(`grant:${grantId}`);
  expect(await named({ cookie: caller.cookie, headers: { origin: BASE_URL } })).toBe(
    `login_session:${caller.loginSessionId}`,
  );
});
