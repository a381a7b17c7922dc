// The real service and a real Chromium in front of it: people with browsers, and workstations that ask to sign in.
// Whatever a browser complains about or asks of another origin is kept, so that every test can expect nothing of it.
import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import {
  DEVICE_CODE_GRANT,
  OAUTH_CLIENT_ID,
  REQUESTABLE_SCOPES,
  SESSION_COOKIE,
} from "../../src/domain/access/wire.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { launchChromium } from "./chromium.ts";
import { type RunningService, startService } from "./running-service.ts";
import { temporaryDirectory } from "./world.ts";

export const ADMIN = "admin@example.com";
export const PASSWORD = "correct horse battery";

/** Below the test runner's own, so that a failure names what was waited for. */
const ACTION_TIMEOUT_MS = 15_000;

/** A workstation in the middle of signing in: what RFC 8628 section 3.2 gave it. */
export interface Workstation {
  deviceCode: string;
  userCode: string;
  /** the opaque link */
  link: string;
  /** Polls once. */
  poll(): Promise<{ status: number; body: Record<string, unknown> }>;
}

/** Somebody's browser with one tab. */
export interface Visitor extends AsyncDisposable {
  page: Page;
  context: BrowserContext;
}

export interface VisitorOptions extends BrowserContextOptions {
  /** signed in already; a stranger when left out */
  as?: Account;
}

export interface Account {
  email: string;
  /** value of the session cookie */
  session: string;
}

export interface Site extends AsyncDisposable {
  service: RunningService;
  baseUrl: string;
  admin: Account;
  /** A browser without scripts unless the options say otherwise. */
  visitor(options?: VisitorOptions): Promise<Visitor>;
  workstation(): Promise<Workstation>;
  /** Makes a member with PASSWORD and signs them in. */
  member(email: string): Promise<Account>;
  /** @returns the link of a new invitation */
  invite(email: string): Promise<string>;
  /** Lets a device login's time pass: the service has no clock but the machine's, so its row is changed. */
  expire(workstation: Workstation): void;
  /** @returns console messages, policy violations and requests to other origins since it was asked last */
  takeComplaints(): string[];
}

/** Starts service and browser; `await using` or `Symbol.asyncDispose` ends both and removes the directory. */
export async function openSite(): Promise<Site> {
  const directory = temporaryDirectory();
  await using started = new AsyncDisposableStack();
  started.defer(() => rmSync(directory, { recursive: true }));
  const service = started.use(
    await startService({
      args: ["--data-dir", directory],
      env: { QUARTERMASTER_BOOTSTRAP_ADMIN_PASSWORD: PASSWORD },
    }),
  );
  const { baseUrl } = service;
  const chromium = await launchChromium();
  started.defer(() => chromium.close());
  const admin = await openSession(baseUrl, ADMIN);
  const invite = (email: string) => inviteAs(admin, baseUrl, email);
  const complaints: string[] = [];
  const visitor = async (options: VisitorOptions = {}) => {
    const visiting = await openVisitor(chromium, baseUrl, options);
    listen(visiting.context, baseUrl, complaints);
    return visiting;
  };
  const running = started.move();
  return {
    service,
    baseUrl,
    admin,
    visitor,
    workstation: () => beginDeviceLogin(baseUrl),
    member: async (email) => {
      await accept(await invite(email));
      return await openSession(baseUrl, email);
    },
    invite,
    expire: ({ link }) => {
      using database = new Database(join(directory, "quartermaster.db"));
      const linkHash = sha256Hex(link.slice(link.lastIndexOf("/") + 1));
      database.run("UPDATE device_logins SET expires_at_ms = created_at_ms WHERE link_hash = ?", [linkHash]);
    },
    takeComplaints: () => complaints.splice(0),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** @returns what the page says it is */
export const heading = (page: Page): Promise<string | null> =>
  page.getByRole("heading", { level: 1 }).textContent();

/** Sends the form of a button and waits for the page that answers. */
export async function press(page: Page, name: string): Promise<void> {
  await Promise.all([page.waitForEvent("load"), page.getByRole("button", { name, exact: true }).click()]);
}

/** Fills in the form of the account settings and sends it. */
export async function changePassword(page: Page, current: string, next: string): Promise<void> {
  await page.getByLabel("Current password").fill(current);
  await page.getByLabel("New password").fill(next);
  await press(page, "Change password");
}

/** Fills the sign-in page in and sends it. */
export async function signIn(page: Page, email: string, password: string = PASSWORD): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(password);
  await press(page, "Sign in");
}

async function openVisitor(
  chromium: Browser,
  baseUrl: string,
  { as, ...options }: VisitorOptions,
): Promise<Visitor> {
  const context = await chromium.newContext({ javaScriptEnabled: false, baseURL: baseUrl, ...options });
  context.setDefaultTimeout(ACTION_TIMEOUT_MS);
  const kept = { name: SESSION_COOKIE, url: baseUrl, httpOnly: true, sameSite: "Lax" } as const;
  if (as) await context.addCookies([{ ...kept, value: as.session }]);
  return { context, page: await context.newPage(), [Symbol.asyncDispose]: () => context.close() };
}

function listen(context: BrowserContext, baseUrl: string, complaints: string[]): void {
  context.on("console", (message) => {
    // That a page came with an error status is no complaint about the page.
    if (!message.text().startsWith("Failed to load resource: the server responded with a status of 4")) {
      complaints.push(message.text());
    }
  });
  context.on("weberror", (error) => complaints.push(String(error.error())));
  context.on("request", (request) => {
    if (!request.url().startsWith(`${baseUrl}/`)) complaints.push(`request to ${request.url()}`);
  });
}

async function openSession(baseUrl: string, email: string): Promise<Account> {
  const answer = await fetch(`${baseUrl}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email, password: PASSWORD }),
  });
  const cookie = new Bun.Cookie(answer.headers.get("set-cookie") ?? "");
  return { email, session: cookie.value };
}

async function inviteAs(admin: Account, baseUrl: string, email: string): Promise<string> {
  const answer = await fetch(`${baseUrl}/admin/invitations`, {
    method: "POST",
    headers: { "content-type": "application/json", cookie: `${SESSION_COOKIE}=${admin.session}` },
    body: JSON.stringify({ email, role: "member" }),
  });
  return (await answer.json()).invitation_url;
}

/** Sends the invitation's form as a browser would; what people see of it has tests of its own. */
async function accept(link: string): Promise<void> {
  const shown = await fetch(link);
  const cookie = new Bun.Cookie(shown.headers.get("set-cookie") ?? "");
  const [, csrf = ""] = /name="csrf" value="(\w+)"/.exec(await shown.text()) ?? [];
  const { origin, pathname, searchParams } = new URL(link);
  await fetch(origin + pathname, {
    method: "POST",
    headers: { cookie: `${cookie.name}=${cookie.value}` },
    body: new URLSearchParams({ csrf, token: searchParams.get("token") ?? "", password: PASSWORD }),
  });
}

async function beginDeviceLogin(baseUrl: string): Promise<Workstation> {
  const client = { client_id: OAUTH_CLIENT_ID, resource: baseUrl };
  const answer = await sendForm(`${baseUrl}/api/auth/device/code`, {
    ...client,
    scope: REQUESTABLE_SCOPES.join(" "),
  });
  const { device_code, user_code, verification_uri_complete } = await answer.json();
  return {
    deviceCode: device_code,
    userCode: user_code,
    link: verification_uri_complete,
    poll: async () => {
      const form = { ...client, grant_type: DEVICE_CODE_GRANT, device_code };
      const polled = await sendForm(`${baseUrl}/api/auth/oauth2/token`, form);
      return { status: polled.status, body: await polled.json() };
    },
  };
}

const sendForm = (url: string, fields: Record<string, string>): Promise<Response> =>
  fetch(url, { method: "POST", body: new URLSearchParams(fields) });
