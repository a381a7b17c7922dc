// The health of the components that requests depend on, for clients and monitors: the database, the stores of packages and
// sessions, gateway keys, and the inference proxy if there is one. A problem has a name and a short general text, never details.
// Source: handbook: observe, Health.
import { type Static, Type } from "@sinclair/typebox";
import type { Blobs, StoreState } from "../../platform/blobs/blobs.ts";
import { type Clock, SECOND_MS, toRfc3339 } from "../../platform/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import { bytesText, FREE_BYTES_MIN } from "../../platform/files/disk.ts";
import type { Gateway } from "../gateway/service.ts";
import * as store from "./store.ts";

/** How long a report is reused, so that frequent callers do not cause frequent requests to the proxy. */
export const HEALTH_KEPT_MS = 5 * SECOND_MS;
/** How long the state of the session store is cached, because anyone may request it and the store may be on another machine. */
export const STORE_STATE_KEPT_MS = 10 * SECOND_MS;

const DependencyCheck = Type.Object({
  name: Type.String({ description: "database, blob_storage, package_storage, or inference_proxy" }),
  status: Type.Union([Type.Literal("healthy"), Type.Literal("unhealthy")]),
  latency_ms: Type.Integer({ minimum: 0 }),
  error: Type.Optional(Type.String({ description: "absent when healthy" })),
});
export const DependencyHealth = Type.Object({
  status: Type.Union([Type.Literal("healthy"), Type.Literal("degraded")]),
  checked_at: Type.String({ format: "date-time" }),
  checks: Type.Array(DependencyCheck),
});
export type DependencyHealth = Static<typeof DependencyHealth>;

export interface HealthDependencies {
  db: Db;
  clock: Clock;
  /** objects of packages */
  blobs: Pick<Blobs, "state">;
  /** state of the session store; may call another machine */
  sessions: { storeState(): Promise<StoreState> };
  gateway: Pick<Gateway, "mode" | "isReadable">;
  /** undefined if there is no proxy */
  proxyHealth: (() => Promise<{ status: "healthy" | "unhealthy" }>) | undefined;
}

export class Health {
  #sessions: { atMs: number; answer: Promise<StoreState> } | undefined;
  #report: { atMs: number; answer: Promise<DependencyHealth> } | undefined;

  constructor(private readonly areas: HealthDependencies) {}

  /** @returns whether packages can be read and stored */
  packageStorage(): Promise<StoreState> {
    return this.areas.blobs.state();
  }

  /** @returns whether packages and captured sessions can be read and stored; the latter is at most STORE_STATE_KEPT_MS old */
  async objectStorage(): Promise<StoreState> {
    const states = await Promise.all([this.packageStorage(), this.#sessionStorage()]);
    return WORST_FIRST.find((state) => states.includes(state)) ?? "usable";
  }

  #sessionStorage(): Promise<StoreState> {
    const atMs = this.areas.clock.nowMs();
    if (!this.#sessions || Math.abs(atMs - this.#sessions.atMs) >= STORE_STATE_KEPT_MS)
      this.#sessions = { atMs, answer: this.areas.sessions.storeState() };
    return this.#sessions.answer;
  }

  /** @returns whether gateway keys can be looked up; `disabled` if gateway mode is off */
  credentialResolver(): "healthy" | "unhealthy" | "disabled" {
    const { gateway } = this.areas;
    if (!gateway.mode) return "disabled";
    return holds(() => gateway.isReadable()) ? "healthy" : "unhealthy";
  }

  /** @returns the state of each component, at most HEALTH_KEPT_MS old; never rejects because of a failing one */
  dependencies(): Promise<DependencyHealth> {
    const atMs = this.areas.clock.nowMs();
    if (!this.#report || Math.abs(atMs - this.#report.atMs) >= HEALTH_KEPT_MS)
      this.#report = { atMs, answer: this.#check(atMs) };
    return this.#report.answer;
  }

  async #check(atMs: number): Promise<DependencyHealth> {
    const { db, blobs, proxyHealth } = this.areas;
    const packages = () => blobs.state().then((state) => STORE_PROBLEMS[state]);
    const stores = () => this.objectStorage().then((state) => STORE_PROBLEMS[state]);
    const checks = await Promise.all([
      checkOf("database", UNREADABLE, async () =>
        databaseProblem(store.canRead(db.read), await blobs.state()),
      ),
      checkOf("blob_storage", UNUSABLE, stores),
      checkOf("package_storage", UNUSABLE, packages),
      ...(proxyHealth ? [checkOf("inference_proxy", UNHEALTHY, proxyProblem(proxyHealth))] : []),
    ]);
    const isHealthy = checks.every(({ status }) => status === "healthy");
    return { status: isHealthy ? "healthy" : "degraded", checked_at: toRfc3339(atMs), checks };
  }
}

const WORST_FIRST: readonly StoreState[] = ["unusable", "full"];
const UNREADABLE = "the database cannot be read";
const UNUSABLE = "the store cannot be used";
const UNHEALTHY = "the proxy does not report that it is healthy";
const FULL = `the disk has less than ${bytesText(FREE_BYTES_MIN)} free`;
const STORE_PROBLEMS: Readonly<Record<StoreState, string | undefined>> = {
  usable: undefined,
  full: `${FULL}: artifacts can be read, and new ones may be refused`,
  unusable: UNUSABLE,
};

/** Database and artifacts are in one data directory. */
function databaseProblem(canRead: boolean, state: StoreState): string | undefined {
  if (!canRead) return UNREADABLE;
  return state === "full" ? `${FULL}: reads continue, and writes may be refused` : undefined;
}

const proxyProblem = (ask: () => Promise<{ status: string }>) => async () =>
  (await ask()).status === "healthy" ? undefined : UNHEALTHY;

/** @param findFault returns undefined if the component is healthy; if it rejects, the problem is `otherwise` */
async function checkOf(
  name: string,
  otherwise: string,
  findFault: () => Promise<string | undefined>,
): Promise<DependencyHealth["checks"][number]> {
  const startedMs = performance.now();
  const error = await findFault().catch(() => otherwise); // the component that failed has logged the details
  const latency_ms = Math.round(performance.now() - startedMs);
  return error === undefined
    ? { name, status: "healthy", latency_ms }
    : { name, status: "unhealthy", latency_ms, error };
}

function holds(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false; // the caller sees the name; the component that failed has logged the details
  }
}
