// The real service and a real Chromium in front of it: people with browsers, and workstations that ask to sign in.
// Whatever a browser complains about or asks of another origin is kept, so that every test can expect nothing of it.
import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { DEVICE_CODE_GRANT, OAUTH_CLIENT_ID, REQUESTABLE_SCOPES } from "../../src/domain/access/wire.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { launchChromium } from "./chromium.ts";
import { type RunningService, startService } from "./running-service.ts";
import { temporaryDirectory } from "./world.ts";

export const ADMIN = "admin@example.com";
export const PASSWORD = "correct horse battery";

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
  /** console messages, violations of the content security policy, errors of pages */
  complaints: string[];
  /** requests to any origin but the service's */
  strayRequests: string[];
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
  const admin = await signIn(baseUrl, ADMIN);
  const invite = (email: string) => inviteAs(admin, baseUrl, email);
  const running = started.move();
  return {
    service,
    baseUrl,
    admin,
    visitor: (options) => openVisitor(chromium, baseUrl, options),
    workstation: () => beginDeviceLogin(baseUrl),
    member: async (email) => {
      await accept(await invite(email));
      return await signIn(baseUrl, email);
    },
    invite,
    expire: ({ link }) => {
      using database = new Database(join(directory, "quartermaster.db"));
      const linkHash = sha256Hex(link.slice(link.lastIndexOf("/") + 1));
      database.run("UPDATE device_logins SET expires_at_ms = created_at_ms WHERE link_hash = ?", [linkHash]);
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
