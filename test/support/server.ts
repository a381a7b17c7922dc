// The server over the real domain in a small real world, and callers who signed in like people and workstations do.

import { join } from "node:path";
import { Registry } from "prom-client";
import { performTask } from "../../src/app/backup/perform-task.ts";
import { diagnoseHere } from "../../src/app/operations/doctor-thread.ts";
import { createOperations } from "../../src/app/operations/operations.ts";
import { startLogThread } from "../../src/app/request-logs/start-log-thread.ts";
import type { AccessSettings, LimitSettings } from "../../src/domain/access/service.ts";
import { OAUTH_CLIENT_ID, USER_SCOPES } from "../../src/domain/access/wire.ts";
import type { Mirroring } from "../../src/domain/catalog/service.ts";
import { type Domain, openDomain } from "../../src/domain/domain.ts";
import type { GatewayMode, ProvisionerCall } from "../../src/domain/gateway/service.ts";
import type { ProxyFigures } from "../../src/domain/gateway/status.ts";
import { type Configuration, runAtOnce } from "../../src/domain/governance/service.ts";
import type { HarnessesInForce } from "../../src/domain/harnesses/harness-facts.ts";
import type { IdentitySettings, Role, User } from "../../src/domain/identity/service.ts";
import { RunningLog } from "../../src/domain/inference/log/writing/running-log.ts";
import type { ProxySettings } from "../../src/domain/inference/settings.ts";
import type { ScimSettings } from "../../src/domain/scim/service.ts";
import type { ObjectStore, SessionSettings } from "../../src/domain/sessions/service.ts";
import type { Actor } from "../../src/domain/shared/actor.ts";
import type { SsoObserver } from "../../src/domain/sso/service.ts";
import type { CurrentSsoSettings } from "../../src/domain/sso/settings.ts";
import { openBlobs } from "../../src/platform/blobs/blobs.ts";
import type { OpenWriter } from "../../src/platform/blobs/piece-writer.ts";
import { loadConfig } from "../../src/platform/config/config.ts";
import { createPasswords } from "../../src/platform/crypto/passwords.ts";
import { openSealing } from "../../src/platform/crypto/sealing.ts";
import { placesIn } from "../../src/platform/data-directory/data-directory.ts";
import { openSnapshot } from "../../src/platform/database/snapshot.ts";
import { createLog } from "../../src/platform/observe/log.ts";
import { createOutbound, type Outbound } from "../../src/platform/outbound/outbound.ts";
import { Secret } from "../../src/platform/secret.ts";
import { sessionCookieName } from "../../src/server/auth/cookies.ts";
import type { UploadTimes } from "../../src/server/http/bodies/streamed-body.ts";
import type { BodyTimes } from "../../src/server/http/exchange.ts";
import { createReadiness } from "../../src/server/readiness.ts";
import type { RouteOptions } from "../../src/server/router.ts";
import { createServer, type Server } from "../../src/server/server.ts";
import { type Copy, remember } from "./content/copies.ts";
import { areAlike, lend } from "./lending/lent-servers.ts";
import { createWorld, type World } from "./world.ts";

export const BASE_URL = "https://control.example.com";
export const PASSWORD = "correct horse battery";
/** address of requests by default */
export const ADDRESS = "192.0.2.7";
/** the configured token of an identity provider */
export const SCIM_TOKEN = "a-token-of-the-identity-provider-in-the-configuration";
export const METRICS_TOKEN = "a-token-that-opens-the-metrics";

const ACCESS: AccessSettings = {
  baseUrl: () => BASE_URL,
  accessTokenTtlSeconds: 900,
  refreshTokenTtlSeconds: 2_592_000,
  browserSessionTtlSeconds: 43_200,
  deviceCodeTtlSeconds: 600,
  pollIntervalSeconds: 5,
  signingKeyRotationDays: 30,
  tokenMemoryBytes: 1_048_576,
  identityMode: "password",
  provider: { providerId: "oidc", providerName: "company sign-in" },
  secondFactor: "optional",
};

const LIMITS: LimitSettings = {
  passwordGuessesPerAccountAndAddress: 10,
  passwordGuessesPerAccount: 200,
  passwordGuessesPerAddress: 100,
  secondFactorGuesses: 5,
  userCodeGuessesPerUser: 10,
  userCodeGuessesPerAddress: 100,
  deviceCodesPerAddress: 100,
  pendingLoginsPerAddress: 200,
  pendingLoginsPerNetwork: 1000,
  invitationsPerActor: 100,
  windowSeconds: 900,
};

const SCIM: ScimSettings = {
  baseUrl: () => BASE_URL,
  linkExisting: "by_address",
  pageMax: 200,
  scanRowsMax: 200_000,
  requestsPerSecond: 10_000,
  requestsBurst: 10_000,
  groupRoleMappings: {},
};

const SESSIONS: SessionSettings = {
  baseUrl: () => BASE_URL,
  store: "local",
  retentionDays: 30,
  supersededDays: 7,
  urlTtlSeconds: 300,
  uploadsAtOnce: 32,
  totalBytesMax: undefined,
  administratorsMayRead: false,
};

export interface TestServerOptions {
  /** not shared with other tests, for tests of state that a server keeps in memory besides its rows */
  isOwn?: true;
  /** replaces the harness file */
  readHarnesses?: () => HarnessesInForce;
  /** disposed with the server; created by default */
  world?: World;
  access?: Partial<AccessSettings>;
  limits?: Partial<LimitSettings>;
  identity?: Partial<IdentitySettings>;
  /** sign-in at an identity provider; none by default */
  sso?: CurrentSsoSettings;
  observeSso?: SsoObserver;
  scim?: Partial<ScimSettings>;
  /** store of captured sessions; in the world's directory by default */
  sessions?: Partial<SessionSettings>;
  /** none by default */
  s3Objects?: ObjectStore;
  /** writes large uploads; inline by default */
  writeUploads?: OpenWriter;
  uploadTimes?: UploadTimes;
  /** whether there is a console; true by default */
  hasConsole?: boolean;
  consoleAuditors?: () => readonly string[];
  /** drafts need another administrator only if this is set */
  requiresSecondAdministrator?: boolean;
  formerRevisionsServed?: number;
  /** the configuration file; none by default */
  configuration?: () => Configuration;
  /** of the configuration; default: SCIM_TOKEN; none if undefined */
  scimToken?: string | undefined;
  /** gateway mode is off by default; gateway-server.ts turns it on */
  gatewayMode?: GatewayMode;
  /** nothing is forwarded by default; proxy-server.ts forwards */
  proxySettings?: ProxySettings;
  proxyFigures?: () => ProxyFigures;
  /** of inference per user and day; none by default */
  budgets?: { requestsPerDay: number; tokensPerDay: number };
  /** nothing can be reached by default */
  outbound?: Outbound;
  /** repository connections; none by default */
  mirroring?: Mirroring;
  bodyTimes?: BodyTimes;
  /** the domain for the server; default: the domain itself */
  watch?: (domain: Domain) => Domain;
}

export interface Sent {
  /** sent as `Authorization: Bearer` */
  token?: string | undefined;
  /** sent unchanged as `Cookie` */
  cookie?: string | undefined;
  /** text, bytes and streams are sent as they are, anything else as JSON */
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** the caller's network address; ADDRESS by default */
  address?: string | null;
}

/** A user with a signed-in browser and a workstation that it approved. */
export interface Caller {
  user: User;
  actor: Actor;
  accessToken: string;
  refreshToken: string;
  /** the browser's `Cookie` header */
  cookie: string;
  sessionToken: string;
  loginSessionId: string;
}

export interface SigningIn {
  email?: string;
  /** of the workstation's tokens, space separated; by default all that a client requests */
  scope?: string;
}

export interface TestServer extends AsyncDisposable {
  server: Server;
  domain: Domain;
  world: World;
  requestLog: RunningLog;
  /** lines of the log as objects, oldest first */
  logged: Record<string, unknown>[];
  /** of the provisioner of gateway keys, oldest first */
  provisionerCalls: ProvisionerCall[];
  request(method: string, path: string, sent?: Sent): Promise<Response>;
  /** Creates a user with PASSWORD and signs in a browser and a workstation of theirs. */
  signedIn(role: Role, options?: SigningIn): Promise<Caller>;
  /** Signs in another browser and workstation of a user. */
  signInAgain(user: User, options?: SigningIn): Promise<Caller>;
}

/**
 * @returns a server that answers `request`; `await using` stops it, or leaves it to the next test of the file that needs an equal
 *   one
 */
export async function createTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const isShared = !options.isOwn && areAlike(options);
  return isShared ? await lend(options, () => makeTestServer(options)) : await makeTestServer(options);
}

async function makeTestServer(options: TestServerOptions): Promise<TestServer> {
  const world = options.world ?? (await createWorldWithKeys());
  const provisionerCalls: ProvisionerCall[] = [];
  const observeProvisioner = (call: ProvisionerCall) => void provisionerCalls.push(call);
  const requestLog = runningLog(world);
  const domain = await joinDomain(world, { ...options, observeProvisioner, requestLog });
  await domain.access.keys.ensure(world.system);
  await domain.inference.signingKeys?.ensure(world.system);
  const logged: Record<string, unknown>[] = [];
  const { configuration, bodyTimes, proxyFigures, uploadTimes, hasConsole, consoleAuditors } = options;
  const console = { hasConsole, ...(consoleAuditors && { consoleAuditors }) };
  const served = { configuration, bodyTimes, proxyFigures, uploadTimes, console };
  const server = servedLater(() =>
    serve(world, { domain: options.watch?.(domain) ?? domain, logged, ...served }),
  );
  const signInAgain = (user: User, signingIn: SigningIn = {}) => signIn({ world, domain }, user, signingIn);
  return {
    server,
    domain,
    world,
    requestLog,
    logged,
    provisionerCalls,
    request: async (method, path, sent = {}) =>
      await server.handle(requestOf(method, path, sent), () =>
        sent.address === undefined ? ADDRESS : sent.address,
      ),
    async signedIn(role, signingIn = {}) {
      const email = signingIn.email ?? `${role}-${world.ids.uuid()}@example.com`;
      const account = { email, role, password: new Secret(PASSWORD) };
      const { user } = await domain.identity.users.create(world.system, account);
      return signInAgain(user, signingIn);
    },
    signInAgain,
    async [Symbol.asyncDispose]() {
      await domain.usage.flush();
      await requestLog.close();
      await world.dispose();
    },
  };
}

let keysMade: Promise<Copy> | undefined;

/** Signing keys are created once for all servers of a process. */
async function createWorldWithKeys(): Promise<World> {
  keysMade ??= directoryOfServer();
  return await createWorld({ copy: await keysMade });
}

async function directoryOfServer(): Promise<Copy> {
  await using server = await createTestServer({ world: await createWorld() });
  return remember(server.world.directory);
}

const requestLogIn = (directory: string): string => join(directory, "request-logs.db");

/** Its thread starts with the first row or search. */
const runningLog = ({ directory, clock }: World): RunningLog =>
  new RunningLog({
    file: requestLogIn(directory),
    isEnabled: true,
    queueRowsMax: 10_000,
    clock,
    log: { warning: () => {}, error: () => {} },
    startThread: startLogThread,
  });

async function joinDomain(
  world: World,
  options: TestServerOptions & {
    observeProvisioner(call: ProvisionerCall): void;
    requestLog: RunningLog;
  },
): Promise<Domain> {
  const { db, clock, ids, directory } = world;
  return openDomain({
    runTask: runAtOnce,
    readHarnesses: options.readHarnesses,
    db,
    clock,
    ids,
    blobs: await openBlobs(join(directory, "artifacts")),
    sessionBlobs: await openBlobs(join(directory, "sessions"), options.writeUploads),
    importBlobs: await openBlobs(join(directory, "artifacts", "imports")),
    s3Objects: options.s3Objects,
    sealing: openSealing({ directory: join(directory, "keys"), ids }),
    passwords: createPasswords({ cost: { memoryKib: 8, passes: 1 } }),
    openSnapshot: () => openSnapshot(world.file),
    outbound: options.outbound ?? createOutbound({ allowed: [] }),
    mirroring: options.mirroring,
    gatewayMode: options.gatewayMode,
    proxySettings: options.proxySettings,
    attemptsBy: "service",
    observeProvisioner: options.observeProvisioner,
    observeSso: options.observeSso,
    records: {
      requestLog: { file: requestLogIn(directory), retentionDays: 30, service: options.requestLog },
      budgets: options.budgets ?? { requestsPerDay: 0, tokensPerDay: 0 },
    },
    secrets: { scimToken: configuredToken({ scimToken: SCIM_TOKEN, ...options }) },
    settings: {
      access: { ...ACCESS, ...options.access },
      scim: { ...SCIM, ...options.scim },
      limits: { ...LIMITS, ...options.limits },
      identity: {
        mode: "password",
        invites: options.identity?.mode !== "oidc",
        hasProvider: false,
        groupRoleMappings: {},
        ...options.identity,
      },
      sso: options.sso ?? (() => undefined),
      governance: {
        requiresSecondAdministrator: options.requiresSecondAdministrator ?? false,
        formerRevisionsServed: options.formerRevisionsServed ?? 3,
      },
      sessions: { ...SESSIONS, baseUrl: options.access?.baseUrl ?? SESSIONS.baseUrl, ...options.sessions },
    },
  });
}

const configuredToken = ({ scimToken }: TestServerOptions): Secret | undefined =>
  scimToken === undefined ? undefined : new Secret(scimToken);

/** Composing all routes takes longer than anything else here, and many tests use the domain only. */
function servedLater(compose: () => Server): Server {
  let made: Server | undefined;
  const composed = (): Server => {
    made ??= compose();
    return made;
  };
  return {
    handle: (...request) => composed().handle(...request),
    endStreams: () => composed().endStreams(),
    allRoutes: () => composed().allRoutes(),
  };
}

interface Served extends Pick<TestServer, "domain" | "logged"> {
  configuration: TestServerOptions["configuration"];
  bodyTimes: TestServerOptions["bodyTimes"];
  proxyFigures: TestServerOptions["proxyFigures"];
  uploadTimes: TestServerOptions["uploadTimes"];
  console: Pick<RouteOptions, "hasConsole" | "consoleAuditors">;
}

function serve(world: World, { domain, logged, configuration, bodyTimes, ...served }: Served): Server {
  const { db, clock, ids } = world;
  const write = (line: string) => void logged.push(JSON.parse(line));
  const log = createLog({ level: "debug", format: "json", write, clock });
  const config = loadConfig({ flags: { dataDir: world.directory }, env: {}, cwd: world.directory });
  const diagnose = () => diagnoseHere({ config, clock, ids, deep: false });
  const examine = () => diagnoseHere({ config, clock, ids, deep: true });
  return createServer({
    operations: createOperations(
      { directory: placesIn(world.directory), domain, outbound: createOutbound({ allowed: [] }) },
      { config, clock, log, diagnose, examine, perform: performTask },
    ),
    domain,
    clock,
    ids,
    log,
    metrics: new Registry(),
    metricsToken: new Secret(METRICS_TOKEN),
    readiness: createReadiness({
      db,
      clock,
      databaseFile: world.file,
      checkKeys: () => domain.access.keys.signer(),
      lastBeatMs: () => clock.nowMs(),
    }),
    baseUrl: domain.access.settings.baseUrl,
    configuration: async () => configuration?.(),
    uploadTimes: served.uploadTimes,
    ...served.console,
    ...(bodyTimes && { bodyTimes }),
    ...(served.proxyFigures && { proxyFigures: served.proxyFigures }),
  });
}

/** @returns the request in the form of the listener */
export function requestOf(method: string, path: string, sent: Sent = {}): Request {
  const headers = new Headers();
  if (sent.token !== undefined) headers.set("authorization", `Bearer ${sent.token}`);
  if (sent.cookie !== undefined) headers.set("cookie", sent.cookie);
  const body = bodyOf(sent.body);
  if (sent.body !== undefined) headers.set("content-type", "application/json");
  for (const [name, value] of Object.entries(sent.headers ?? {})) headers.set(name, value);
  return new Request(`http://localhost${path}`, { method, headers, ...(body !== undefined && { body }) });
}

function bodyOf(body: unknown): BodyInit | undefined {
  if (body === undefined || typeof body === "string" || body instanceof ReadableStream) return body;
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}

type Parts = Pick<TestServer, "world" | "domain">;

type FactorSettings = Pick<Domain["access"]["settings"], "secondFactor">;
/** By the settings: the value to restore, and how many sign-ins wait. */
const heldFactors = new WeakMap<FactorSettings, { value: FactorSettings["secondFactor"]; waiting: number }>();

/** Runs the work without the setting, because otherwise the person would have to set up a factor before approving. */
async function withoutFactors(settings: FactorSettings, work: () => Promise<unknown>): Promise<void> {
  const held = heldFactors.get(settings) ?? { value: settings.secondFactor, waiting: 0 };
  heldFactors.set(settings, held);
  held.waiting += 1;
  settings.secondFactor = "off";
  try {
    await work();
  } finally {
    held.waiting -= 1;
    if (held.waiting === 0) {
      settings.secondFactor = held.value;
      heldFactors.delete(settings);
    }
  }
}

async function signIn({ world, domain }: Parts, user: User, signingIn: SigningIn): Promise<Caller> {
  const { sessions, deviceLogins, grants, settings } = domain.access;
  const { id, email, organizationId } = user;
  const actor: Actor = { kind: "user", id, label: email, organizationId, address: ADDRESS };
  const browser = { address: ADDRESS, userAgent: null, isFresh: true };
  const session = await world.db.write((tx) => sessions.open(tx, user.id, browser), "access");
  const client = { clientId: OAUTH_CLIENT_ID, scope: signingIn.scope ?? FULL_SCOPE };
  const { linkToken, deviceCode } = await deviceLogins.request({ ...client, address: null });
  await deviceLogins.claim(actor, linkToken);
  await withoutFactors(settings, () =>
    deviceLogins.decide(actor, { linkToken, loginSessionId: session.id, decision: "approve" }),
  );
  const tokens = await grants.redeem({ ...client, deviceCode });
  return {
    user,
    actor,
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token ?? "",
    cookie: `${sessionCookieName(domain.access.settings.baseUrl())}=${session.token}`,
    sessionToken: session.token,
    loginSessionId: session.id,
  };
}

const FULL_SCOPE = ["offline_access", ...USER_SCOPES].join(" ");
