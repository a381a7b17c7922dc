// The base of every routes file: its dependencies, and the router with the macros `requires` and `accepts`.
import { Elysia } from "elysia";
import type { Registry } from "prom-client";
import type { Domain } from "../domain/domain.ts";
import type { ProxyFigures } from "../domain/gateway/status.ts";
import type { Configuration } from "../domain/governance/service.ts";
import type { Operations } from "../domain/system/operations.ts";
import type { Clock } from "../platform/clock.ts";
import type { Ids } from "../platform/ids.ts";
import type { Secret } from "../platform/secret.ts";
import type { createGuard } from "./auth/guard.ts";
import { bodies } from "./http/bodies/body.ts";
import type { UploadTimes } from "./http/bodies/streamed-body.ts";
import type { SpendRequest } from "./http/caller-budget.ts";
import type { CountFactor } from "./metrics/factor-metrics.ts";
import type { AdminEvents } from "./overview/admin-events.ts";
import type { Overview } from "./overview/overview.ts";
import type { RevisionStreams } from "./policy-api/revision-streams.ts";
import type { Readiness } from "./readiness.ts";
import type { Search } from "./search/search.ts";

export interface RouteOptions {
  domain: Domain;
  clock: Clock;
  ids: Ids;
  metrics: Registry;
  /** grants access to /metrics */
  metricsToken: Secret | undefined;
  readiness: Readiness;
  /** public origin of the service, without a trailing slash */
  baseUrl(): string;
  /** the current configuration file; undefined if the service has none */
  configuration(): Promise<Configuration | undefined> | undefined;
  /** whether there is a console; defaults to true */
  hasConsole?: boolean | undefined;
  /** addresses of auditors, in lowercase; nobody if omitted */
  consoleAuditors?(): readonly string[];
  /** time limits of the bodies of captured sessions and archives; defaults to UPLOAD_TIMES and ARCHIVE_TIMES */
  uploadTimes?: UploadTimes | undefined;
  /** settings, checks and backups of the running service */
  operations: Operations;
  /** the current state of the inference proxy of this process; undefined while there is none */
  proxyFigures?(): ProxyFigures | undefined;
  /** whether a second process of this installation forwards inference now */
  isForwardedElsewhere?(): boolean;
}

/** Dependencies of a routes file. */
export interface RouteContext extends RouteOptions {
  router: Router;
  streams: RevisionStreams;
  overview: Overview;
  adminEvents: AdminEvents;
  search: Search;
  /** counts a search or a request for suggestions */
  spendSearch: SpendRequest;
  spendHealthCheck: SpendRequest;
  /** counts one check of a second factor */
  countFactor: CountFactor;
}

export type Router = ReturnType<typeof createRouter>;

/** @returns a router. One instance holds all its routes, because Elysia creates each route again for every instance that uses another. */
export const createRouter = (guard: ReturnType<typeof createGuard>) =>
  new Elysia({ normalize: false }).use(guard).use(bodies);
