// Forwarding over real sockets: a client's connection, the service's forwarding, and the scripted upstream. The handler admits
// requests; here every request is admitted. `beat` checks time limits, at a time that the test sets.
import { Registry } from "prom-client";
import { type EndedBy, rejectionReasonIn, type UsableKey } from "../../../src/domain/gateway/service.ts";
import type { RequestRow } from "../../../src/domain/inference/log/record.ts";
import type { ProxySettings } from "../../../src/domain/inference/settings.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createOutbound } from "../../../src/platform/outbound/outbound.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { createForwarding, type Forwarding } from "../../../src/server/inference/forwarding/forwarding.ts";
import type { FinishedRequest } from "../../../src/server/inference/forwarding/open-calls.ts";
import type { Dialect } from "../../../src/server/inference/paths.ts";
import { type Script, ScriptedUpstream } from "./upstream.ts";

/** The managed key of the only user, which the upstream receives. */
export const MANAGED_KEY = "sk-managed-canary-0001";

export const CALLER = {
  userId: "8f0a3a4e-0000-4000-8000-000000000001",
  organizationId: "8f0a3a4e-0000-4000-8000-000000000002",
  gatewaySessionId: "8f0a3a4e-0000-4000-8000-000000000003",
  loginSessionId: "8f0a3a4e-0000-4000-8000-000000000004",
  grantId: "8f0a3a4e-0000-4000-8000-000000000005",
  profileId: "profile-1",
  profileName: "member@example.com",
} as const;

export const SETTINGS: ProxySettings = {
  listen: undefined,
  upstreamUrl: "http://127.0.0.1",
  maxInFlight: 2_000,
  parallelPerUser: 50,
  maxBodyBytes: 200_000,
  bufferBytes: 100_000,
  bufferTotalBytes: 1_000_000,
  tokenRate: 50,
  tokenBurst: 100,
  failuresPerAddress: 20,
  connectTimeoutMs: 2_000,
  headersTimeoutMs: 600_000,
  idleTimeoutMs: 300_000,
  streamMaxMs: 3_600_000,
  drainMs: 20_000,
  cutStreams: true,
  credentialHeader: "authorization",
  identityHeaders: new Map(),
  extraPaths: [],
  modelPolicy: "off",
};

export interface ForwardingSite extends AsyncDisposable {
  upstream: ScriptedUpstream;
  forwarding: Forwarding;
  /** where clients connect */
  origin: string;
  port: number;
  /** completed rows and early rows, in the order they were handed over */
  rows: RequestRow[];
  /** rows that were counted for the sums of usage */
  counted: RequestRow[];
  finished: FinishedRequest[];
  /** requested garbage collections */
  collections: number;
  /** errors that no step expected */
  reported: unknown[];
  metrics: Registry;
  /** permits in use */
  readonly held: number;
  /** reported keys, with the reason */
  rejected: { credentialVersion: string; reason: string }[];
  /** the next replacement key; undefined: none in time */
  replacement: UsableKey | undefined;
  /** sessions that have ended; set `revision` too */
  ended: Map<string, EndedBy>;
  revision: number;
  endsAtMs: number;
  allowedModels: ReadonlySet<string> | undefined;
  /** Advances the monotonic clock and checks the open calls. */
  pass(ms: number): void;
  /** @returns the row of the request with this number, once it is complete */
  row(index?: number): Promise<RequestRow>;
  /** Resets what earlier tests recorded. */
  forget(): void;
}

export interface ForwardingSiteOptions {
  settings?: Partial<ProxySettings>;
  /** path of the upstream's URL */
  base?: string;
  script?: Script;
  /** replaces the scripted upstream */
  upstreamOrigin?: string;
}

const dialectOf = (path: string): Dialect => {
  if (path.includes("/responses")) return "responses";
  return path.includes("/messages") ? "messages" : "chat";
};

/** @returns forwarding that listens; `await using` stops it */
export async function createForwardingSite(options: ForwardingSiteOptions = {}): Promise<ForwardingSite> {
  const { base } = options;
  const upstream = await ScriptedUpstream.start(options.script);
  const settings = { ...SETTINGS, ...options.settings };
  const outbound = createOutbound({
    allowed: [
      {
        name: "upstream",
        origin: options.upstreamOrigin ?? upstream.origin,
        why: "test",
        ...(base !== undefined && { base }),
      },
    ],
  });
  let aheadMs = 0;
  let held = 0;
  const waiting: (() => void)[] = [];
  const metrics = new Registry();
  const site: ForwardingSite = {
    upstream,
    metrics,
    rows: [],
    counted: [],
    finished: [],
    reported: [],
    rejected: [],
    collections: 0,
    replacement: undefined,
    ended: new Map(),
    revision: 0,
    endsAtMs: Number.POSITIVE_INFINITY,
    allowedModels: undefined,
    get held() {
      return held;
    },
    forwarding: createForwarding({
      settings,
      upstream: outbound.upstream("upstream", settings),
      classify: rejectionReasonIn,
      async replaceKey({ credentialVersion }, reason) {
        site.rejected.push({ credentialVersion, reason });
        return site.replacement;
      },
      watch: { revision: () => site.revision, endedAmong: () => site.ended },
      log: {
        add(row) {
          site.rows.push(row);
          for (const resolve of waiting.splice(0)) resolve();
        },
      },
      usage: { count: (row) => site.counted.push(row) },
      allowedModels: () => site.allowedModels,
      clock: systemClock,
      connectionIdleSeconds: 1,
      nowMs: () => performance.now() + aheadMs,
      metrics,
      collectGarbage: () => (site.collections += 1),
      finished: (request) => site.finished.push(request),
      refused: () => {},
      report: (error) => site.reported.push(error),
    }),
    pass(ms) {
      aheadMs += ms;
      site.forwarding.beat();
    },
    async row(index = 0) {
      for (;;) {
        const row = site.rows.filter(({ outcome }) => outcome !== null)[index];
        if (row) return row;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
    forget() {
      upstream.forget();
      for (const list of [site.rows, site.counted, site.finished, site.reported, site.rejected])
        list.length = 0;
      Object.assign(site, { replacement: undefined, ended: new Map(), allowedModels: undefined });
      site.endsAtMs = Number.POSITIVE_INFINITY;
    },
    origin: "",
    port: 0,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await upstream[Symbol.asyncDispose]();
    },
  };
  let number = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    development: false,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: 1, // the shortest idle time: only the forwarding keeps an idle stream open
    fetch(request, running) {
      const path = new URL(request.url).pathname;
      let isHeld = true;
      held += 1;
      const admitted = {
        ...CALLER,
        endsAtMs: site.endsAtMs,
        credential: new Secret(MANAGED_KEY),
        credentialVersion: "version-1",
        release() {
          if (isHeld) held -= 1;
          isHeld = false;
        },
      };
      number += 1;
      return site.forwarding.forward({
        request,
        server: running,
        entry: { route: path, path, dialect: dialectOf(path) },
        admitted,
        requestId: `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`,
        arrivedAtMs: Date.now(),
      });
    },
  });
  return Object.assign(site, { origin: server.url.origin, port: server.port ?? 0 });
}
