// What every routes file starts from: the parts it may use, and an instance that knows `requires` and `accepts`.
import { Elysia } from "elysia";
import type { Domain } from "../domain/domain.ts";
import type { Configuration } from "../domain/governance/service.ts";
import type { Clock } from "../platform/clock.ts";
import type { Ids } from "../platform/ids.ts";
import type { Metrics } from "../platform/observe/metrics.ts";
import type { Secret } from "../platform/secret.ts";
import type { createGuard } from "./auth/guard.ts";
import { bodies } from "./http/bodies/body.ts";
import type { RevisionStreams } from "./policy/revision-streams.ts";
import type { Readiness } from "./readiness.ts";

export interface RouteOptions {
  domain: Domain;
  clock: Clock;
  ids: Ids;
  metrics: Metrics;
  /** opens /metrics to whoever holds it */
  metricsToken: Secret | undefined;
  readiness: Readiness;
  /** our origin, without a trailing slash */
  baseUrl(): string;
  /** the configuration file as it is now; undefined where the service has none */
  configuration(): Promise<Configuration | undefined> | undefined;
}

/** What a routes file receives. */
export interface RouteContext extends RouteOptions {
  guard: ReturnType<typeof createGuard>;
  streams: RevisionStreams;
}

/** @param area names the routes file; an unnamed plugin would run its hooks once per use */
export const createRouter = (guard: RouteContext["guard"], area: string) =>
  new Elysia({ name: `routes/${area}` }).use(guard).use(bodies);
