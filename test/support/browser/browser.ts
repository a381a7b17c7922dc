// The server behind a real socket and a real Chromium: people with browsers, and workstations that ask to sign in. Browser errors
// and requests to other origins are recorded, so that every test can expect none.
import { eq } from "drizzle-orm";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { deviceLogins } from "../../../src/domain/access/tables.ts";
import {
  DEVICE_CODE_GRANT,
  OAUTH_CLIENT_ID,
  REQUESTABLE_SCOPES,
  SESSION_COOKIE,
} from "../../../src/domain/access/wire.ts";
import { passwordUrl } from "../../../src/domain/identity/model.ts";
import type { Role } from "../../../src/domain/identity/service.ts";
import { sha256Hex } from "../../../src/platform/ids.ts";
import { createOutbound } from "../../../src/platform/outbound/outbound.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { startGateway } from "../gateway/gateway-server.ts";
import {
  createListeningServer,
  type ListeningOptions,
  type ListeningServer,
} from "../network/listening-server.ts";
import { PASSWORD } from "../server.ts";
import { borrowChromium } from "./chromium.ts";

export const ADMIN = "admin@example.com";
export { PASSWORD };

/** The session cookie as the server sets it. */
const KEPT = { name: SESSION_COOKIE, httpOnly: true, sameSite: "Lax" } as const;

/** Shorter than the test runner's own limit, so that a failure names the missing element. */
const ACTION_TIMEOUT_MS = 15_000;

/** A workstation that is signing in: the response of RFC 8628 section 3.2. */
export interface Workstation {
  deviceCode: string;
  userCode: string;
  /** the opaque link */
  link: string;
  /** Polls once. */
  poll(): Promise<{ status: number; body: Record<string, unknown> }>;
}

/** A user's browser with one tab. */
export interface Visitor extends AsyncDisposable {
  page: Page;
  context: BrowserContext;
}

export interface VisitorOptions extends BrowserContextOptions {
  /** signed in already; signed out by default */
  as?: Account;
}

export interface Account {
  email: string;
  /** value of the session cookie */
  session: string;
}

export interface Site extends AsyncDisposable {
  baseUrl: string;
  /** for operations without a page */
  server: ListeningServer;
  admin: Account;
  /** A browser without scripts unless the options say otherwise. */
  visitor(options?: VisitorOptions): Promise<Visitor>;
  workstation(): Promise<Workstation>;
  /** @returns the current time of the service in milliseconds */
  time(): number;
  /** Creates a member with PASSWORD and signs them in. */
  member(email: string): Promise<Account>;
  /** The same with an administrator. */
  administrator(email: string): Promise<Account>;
  /** @returns the link of a new invitation */
  invite(email: string): Promise<string>;
  /** @returns a link with which this user sets a new password */
  passwordLink(email: string): Promise<string>;
  /** Advances the time of this device login only. */
  expire(workstation: Workstation): Promise<void>;
  /** @returns console messages, policy violations and requests to other origins since the last call */
  takeComplaints(): string[];
}

type SiteOptions = Pick<ListeningOptions, "host" | "sso" | "hasConsole" | "consoleAuditors"> & {
  /** gateway mode is on */
  hasGateway?: boolean;
};

/**
 * Starts server and browser; `await using` or `Symbol.asyncDispose` stops both.
 * @param options `localhost` as the host is a secure context with a name, where browsers offer passkeys
 */
export async function openSite({ hasGateway = false, ...options }: SiteOptions = {}): Promise<Site> {
  await using started = new AsyncDisposableStack();
  const limits = { userCodeGuessesPerUser: 5 };
  const found = () => server.domain.sso.provider.destinations();
  const outbound = createOutbound({ allowed: [], found });
  const { upstream, ...mode } = hasGateway ? await startGateway() : {};
  started.defer(() => upstream?.stop());
  const server: ListeningServer = started.use(
    await createListeningServer({ ...options, ...mode, limits, ...(options.sso && { outbound }) }),
  );
  const { origin: baseUrl } = server;
  const { browser: chromium } = started.use(await borrowChromium());
  const contexts = new Set<BrowserContext>();
  started.defer(async () => {
    await Promise.all([...contexts].map((context) => context.close()));
  });
  const admin = await openAccount(server, { email: ADMIN, role: "admin" });
  const complaints: string[] = [];
  const idle = createIdleVisitors();
  const open = async (options: BrowserContextOptions): Promise<Visitor> => {
    const visitor = await openVisitor(chromium, baseUrl, options);
    contexts.add(visitor.context);
    listen(visitor.context, baseUrl, complaints);
    return visitor;
  };
  const running = started.move();
  return {
    baseUrl,
    server,
    admin,
    visitor: async ({ as, ...options } = {}) => {
      const visitor = idle.take(options) ?? (await open(options));
      if (as) await visitor.context.addCookies([{ ...KEPT, url: baseUrl, value: as.session }]);
      return { ...visitor, [Symbol.asyncDispose]: () => idle.put(options, visitor) };
    },
    workstation: () => beginDeviceLogin(baseUrl),
    time: () => server.world.clock.nowMs(),
    member: (email) => openAccount(server, { email, role: "member" }),
    administrator: (email) => openAccount(server, { email, role: "admin" }),
    invite: (email) => inviteAs(admin, baseUrl, email),
    passwordLink: (email) => linkFor(server, email),
    expire: ({ link }) => expireLogin(server, link.slice(link.lastIndexOf("/") + 1)),
    takeComplaints: () => complaints.splice(0),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** @returns the heading of the page */
export const heading = (page: Page): Promise<string | null> =>
  page.getByRole("heading", { level: 1 }).textContent();

/** Sends the form of a button and waits for the next page. */
export async function press(page: Page, name: string): Promise<void> {
  await Promise.all([page.waitForEvent("load"), page.getByRole("button", { name, exact: true }).click()]);
}

/** Publishes the draft on the review page. */
export async function publish(page: Page): Promise<void> {
  await Promise.all([
    page.waitForEvent("load"),
    page.getByRole("button", { name: /^Publish r\d+$/ }).click(),
  ]);
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
  options: BrowserContextOptions,
): Promise<Visitor> {
  const context = await chromium.newContext({ javaScriptEnabled: false, baseURL: baseUrl, ...options });
  context.setDefaultTimeout(ACTION_TIMEOUT_MS);
  return { context, page: await context.newPage(), [Symbol.asyncDispose]: () => context.close() };
}

/** Idle browsers: the next visitor gets one, without cookies, because a new one takes longer than most tests. */
function createIdleVisitors() {
  const idle = new Map<string, Visitor[]>();
  const like = (options: BrowserContextOptions) =>
    idle.getOrInsertComputed(JSON.stringify(options), () => []);
  return {
    take: (options: BrowserContextOptions): Visitor | undefined => like(options).pop(),
    async put(options: BrowserContextOptions, visitor: Visitor): Promise<void> {
      const { context, page } = visitor;
      const otherPages = context.pages().filter((other) => other !== page);
      await Promise.all([context.clearCookies(), ...otherPages.map((other) => other.close())]);
      like(options).push(visitor);
    },
  };
}

const EXPECTED_MESSAGES = [
  // A page with an error status is not an error of the page.
  "Failed to load resource: the server responded with a status of 4",
  // A test may fill a field before the browser moves the focus to the summary of errors.
  "Autofocus processing was blocked",
];

/** Records browser errors, and requests to other origins. */
export function listen(context: BrowserContext, baseUrl: string, complaints: string[]): void {
  context.on("console", (message) => {
    if (!EXPECTED_MESSAGES.some((start) => message.text().startsWith(start))) complaints.push(message.text());
  });
  context.on("weberror", (error) => complaints.push(String(error.error())));
  context.on("request", (request) => {
    if (!request.url().startsWith(`${baseUrl}/`)) complaints.push(`request to ${request.url()}`);
  });
}

/** Makes a user with PASSWORD and signs a browser of theirs in. */
async function openAccount(
  { domain, world }: ListeningServer,
  { email, role }: { email: string; role: Role },
): Promise<Account> {
  const { user } = await domain.identity.users.create(world.system, {
    email,
    role,
    password: new Secret(PASSWORD),
  });
  const browser = { address: "127.0.0.1", userAgent: null, isFresh: true };
  const session = await world.db.write((tx) => domain.access.sessions.open(tx, user.id, browser), "access");
  return { email, session: session.token };
}

async function linkFor({ origin, domain, world }: ListeningServer, email: string): Promise<string> {
  const { users, passwordLinks } = domain.identity;
  const { id } = users.find(world.organizationId, email);
  return passwordUrl(origin, (await passwordLinks.create(world.system, id)).token).reveal();
}

async function expireLogin({ world }: ListeningServer, linkToken: string): Promise<void> {
  const isIt = eq(deviceLogins.linkHash, sha256Hex(linkToken));
  await world.db.write((tx) =>
    tx.update(deviceLogins).set({ expiresAtMs: deviceLogins.createdAtMs }).where(isIt).run(),
  );
}

async function inviteAs(admin: Account, baseUrl: string, email: string): Promise<string> {
  const response = await fetch(`${baseUrl}/admin/invitations`, {
    method: "POST",
    headers: { "content-type": "application/json", cookie: `${SESSION_COOKIE}=${admin.session}` },
    body: JSON.stringify({ email, role: "member" }),
  });
  return (await response.json()).invitation_url;
}

/** Starts a device login as a workstation does. */
export async function beginDeviceLogin(baseUrl: string): Promise<Workstation> {
  const client = { client_id: OAUTH_CLIENT_ID, resource: baseUrl };
  const response = await sendForm(`${baseUrl}/api/auth/device/code`, {
    ...client,
    scope: REQUESTABLE_SCOPES.join(" "),
  });
  const { device_code, user_code, verification_uri_complete } = await response.json();
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
