// The HTTP interface: one Elysia instance for a domain. It answers requests; listen.ts opens the sockets.

import type { Registry } from "prom-client";
import type { Log } from "../platform/observe/log.ts";
import { brandingOf } from "./auth/browser.ts";
import { renewSessionCookie } from "./auth/cookies.ts";
import { BODY_TIMES, endBody, keepStreamReadable } from "./http/bodies/body-end.ts";
import { StreamHolders } from "./http/event-streams.ts";
import { type BodyTimes, type Exchange, openExchange } from "./http/exchange.ts";
import { createFailureLog } from "./http/problems/failure-log.ts";
import { createRefusal, unrouted } from "./http/problems/refusal.ts";
import { createRefusalLog } from "./http/problems/refusal-log.ts";
import { needsTag, tagged } from "./http/read-tags.ts";
import { routable, unreadableHost } from "./http/request-target.ts";
import { complete } from "./http/responses.ts";
import { addConsoleRoutes, createLazyConsole } from "./lazy-console.ts";
import type { Forwarding } from "./listener/peer-address.ts";
import { createFactorMetrics } from "./metrics/factor-metrics.ts";
import type { DocumentedRoute } from "./openapi.ts";
import { AdminEvents, type AdminEventsOptions } from "./overview/admin-events.ts";
import { Overview } from "./overview/overview.ts";
import { RevisionStreams } from "./policy-api/revision-streams.ts";
import { createResponseRecorder } from "./response-recorder.ts";
import { createRouter, type RouteContext, type RouteOptions, type Router } from "./router.ts";
import { createHealthBudget } from "./routes/gateway/gateway-status.ts";
import { createRoutes, guardOf } from "./routes/index.ts";
import { createAdmission } from "./scim/admission.ts";
import { createSearch } from "./search/search.ts";
import { createSearchBudget } from "./search/search-budget.ts";

export interface ServerOptions extends RouteOptions {
  log: Log;
  metrics: Registry;
  /** called for each response before it is sent */
  observeResponse?: ((answered: { request: Request; exchange: Exchange }) => void) | undefined;
  /** defaults to BODY_TIMES */
  bodyTimes?: BodyTimes;
}

/** Finds the caller's network address; null if there is none. */
export type AddressOf = (request: Request) => string | null;

/** Returns how the caller's network address was found. */
export type ForwardingOf = (request: Request) => Forwarding;

export interface Server {
  /** Answers any request; never throws or rejects. The runtime omits the body of a response to HEAD. */
  handle(request: Request, addressOf?: AddressOf, forwardingOf?: ForwardingOf): Response | Promise<Response>;
  /** Ends all event streams and rejects new ones. */
  endStreams(): void;
  /** Loads the console. @returns all routes */
  allRoutes(): Promise<readonly DocumentedRoute[]>;
}

/**
 * Serves the Allow header, because the framework answers a wrong method with 404.
 * @returns a function that lists the methods of a path; empty for an unknown path
 */
function allowedMethods(router: Router): (path: string) => string[] {
  let templates: { method: string; pattern: RegExp }[] | undefined; // created at the first use
  return (path) => {
    templates ??= router.routes.map(({ method, path }) => ({ method, pattern: patternOf(path) }));
    const methods = templates.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    return [...new Set(methods.includes("GET") ? [...methods, "HEAD"] : methods)];
  };
}

const patternOf = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll(/:\w+/g, "[^/]+")}/?$`);

/** @returns the HTTP server of a domain */
export function createServer(options: ServerOptions): Server {
  const { domain, ids, baseUrl, bodyTimes = BODY_TIMES } = options;
  const failures = createFailureLog(options);
  const refuse = createRefusal(failures, () => brandingOf(domain));
  let secure: boolean | undefined; // the origin is unknown until the listener has its port
  const shared = { loginWatch: domain.access.loginWatch, holders: new StreamHolders() };
  const streams = new RevisionStreams({ ...options, ...domain, ...shared });
  const overview = new Overview({ ...options, ...domain });
  const adminEvents = createAdminEvents(options, { ...shared, overview });
  const search = createSearch(domain);
  const spendSearch = createSearchBudget(options.clock);
  const spendHealthCheck = createHealthBudget(options.clock);
  const admission = createAdmission(domain.scim, options.clock);
  const newRouter = createRouters(guardOf(options, admission), refuse);
  const router = newRouter();
  const context: RouteContext = {
    ...options,
    router,
    streams,
    overview,
    adminEvents,
    search,
    spendSearch,
    spendHealthCheck,
    countFactor: createFactorMetrics(options.metrics),
  };
  const lazyConsole = createLazyConsole({
    hasConsole: options.hasConsole !== false,
    newRouter,
    addRoutes: (router) => addConsoleRoutes({ ...context, router }),
  });
  const allRoutes = async () => [...router.routes, ...(await lazyConsole.routes())];
  createRoutes(context, { admission, allRoutes });
  const refusals = createRefusalLog(options);
  const record = createResponseRecorder({ ...options, refusals }, () => [
    ...router.routes,
    ...lazyConsole.loadedRoutes(),
  ]);
  const route = (request: Request): Response | Promise<Response> =>
    lazyConsole.answers(request) ? lazyConsole.handle(request) : router.fetch(request);
  return {
    allRoutes,
    endStreams() {
      streams.close();
      adminEvents.close();
      refusals.flush();
      failures.flush();
    },
    async handle(request, addressOf = () => null, forwardingOf = () => "none") {
      const own = { request, addressOf, forwardingOf, bodyTimes };
      const exchange: Exchange = new OpenExchange(ids.uuid(), own);
      const startedMs = performance.now();
      const target = routable(request);
      const routed = target ?? request;
      openExchange(routed, exchange);
      keepStreamReadable(routed);
      let response: Response;
      try {
        response = target ? await route(target) : refuse(unreadableHost(), { request, path: "" });
      } catch (error) {
        // The framework does not catch the rejection of a handler that returns a promise without being async.
        response = refuse(error, { request: routed, path: new URL(routed.url).pathname });
      }
      if (needsTag(request, exchange.route, response)) response = await tagged(request, response);
      record({ request, exchange, response, durationMs: performance.now() - startedMs });
      options.observeResponse?.({ request, exchange });
      if (exchange.principal?.renewed) {
        const maxAgeSeconds = domain.access.settings.browserSessionTtlSeconds;
        renewSessionCookie(request, response, { baseUrl: baseUrl(), maxAgeSeconds });
      }
      for (const cookie of exchange.cookies ?? []) response.headers.append("set-cookie", cookie);
      secure ??= baseUrl().startsWith("https:");
      return endBody(routed, exchange, complete(response, { requestId: exchange.requestId, secure }));
    },
  };
}

/** @returns a function that makes routers with the same guard and refusals */
const createRouters =
  (guard: ReturnType<typeof guardOf>, refuse: ReturnType<typeof createRefusal>) => (): Router => {
    const router = createRouter(guard);
    const allowed = allowedMethods(router);
    router.onError({ as: "global" }, ({ error, code, request, path, set }) => {
      set.status = 200; // otherwise the framework copies our response and its body through a stream
      const cause = code === "NOT_FOUND" ? unrouted(request.method, allowed(path)) : error;
      return refuse(cause, { request, path });
    });
    return router;
  };

const createAdminEvents = (
  { domain, clock, log }: ServerOptions,
  shared: Pick<AdminEventsOptions, "overview" | "loginWatch" | "holders">,
): AdminEvents =>
  new AdminEvents({
    ...shared,
    clock,
    log,
    revision: (organizationId) => domain.governance.revisions.current(organizationId)?.sequence ?? 0,
    changes: {
      clients: () => domain.clients.revision(),
      keys: () => domain.gateway.revision(),
      jobs: () => domain.jobs.revision(),
    },
  });

/** A class, because an object literal with a getter would get a new memory layout for each request. */
class OpenExchange implements Exchange {
  route: string | undefined = undefined;
  principal: Exchange["principal"] = undefined;
  scim: Exchange["scim"] = undefined;
  isAdmitted = false;
  /** undefined until its first use */
  #address: string | null | undefined = undefined;

  constructor(
    readonly requestId: string,
    private readonly dependencies: {
      request: Request;
      addressOf: AddressOf;
      forwardingOf: ForwardingOf;
      bodyTimes: BodyTimes;
    },
  ) {}

  get address(): string | null {
    if (this.#address === undefined) this.#address = this.dependencies.addressOf(this.dependencies.request);
    return this.#address;
  }

  get forwarding(): Forwarding {
    return this.dependencies.forwardingOf(this.dependencies.request);
  }

  get bodyTimes(): BodyTimes {
    return this.dependencies.bodyTimes;
  }
}
