// How the parts that answers depend on are now, for clients and monitors: the database, the store of artifacts, gateway keys,
// and the inference proxy where there is one. What is wrong is told by name and in a few general words, never in detail.
// Source: control-api.md section 13; openapi.yaml DependencyHealth.
import { type Static, Type } from "@sinclair/typebox";
import type { Blobs } from "../../platform/blobs.ts";
import { type Clock, SECOND_MS, toRfc3339 } from "../../platform/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Gateway } from "../gateway/service.ts";
import * as store from "./store.ts";

/** How long a report is given again: whoever asks often does not have the proxy asked as often. */
export const HEALTH_KEPT_MS = 5 * SECOND_MS;

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
  blobs: Pick<Blobs, "isUsable">;
  gateway: Pick<Gateway, "mode" | "isReadable">;
  /** undefined where there is no proxy */
  proxyHealth: (() => Promise<{ status: "healthy" | "unhealthy" }>) | undefined;
}

export class Health {
  #report: { atMs: number; answer: Promise<DependencyHealth> } | undefined;

  constructor(private readonly own: HealthDependencies) {}

  /** @returns whether artifacts can be read and stored */
  isObjectStorageUsable(): Promise<boolean> {
    return this.own.blobs.isUsable();
  }

  /** @returns whether gateway keys can be looked up; `disabled` where gateway mode is off */
  credentialResolver(): "healthy" | "unhealthy" | "disabled" {
    const { gateway } = this.own;
    if (!gateway.mode) return "disabled";
    return holds(() => gateway.isReadable()) ? "healthy" : "unhealthy";
  }

  /** @returns how each part is, HEALTH_KEPT_MS old at most; never rejects for a part that is unwell */
  dependencies(): Promise<DependencyHealth> {
    const atMs = this.own.clock.nowMs();
    if (!this.#report || Math.abs(atMs - this.#report.atMs) >= HEALTH_KEPT_MS)
      this.#report = { atMs, answer: this.#look(atMs) };
    return this.#report.answer;
  }

  async #look(atMs: number): Promise<DependencyHealth> {
    const { db, blobs, proxyHealth } = this.own;
    const isStoreUsable = () => blobs.isUsable();
    const checks = await Promise.all([
      checkOf("database", "the database cannot be read", async () => store.canRead(db.read)),
      checkOf("blob_storage", "the store cannot be used", isStoreUsable),
      checkOf("package_storage", "the store cannot be used", isStoreUsable),
      ...(proxyHealth
        ? [checkOf("inference_proxy", "the proxy does not say that it is well", isWell(proxyHealth))]
        : []),
    ]);
    const isHealthy = checks.every(({ status }) => status === "healthy");
    return { status: isHealthy ? "healthy" : "degraded", checked_at: toRfc3339(atMs), checks };
  }
}

const isWell = (ask: () => Promise<{ status: string }>) => async () => (await ask()).status === "healthy";

async function checkOf(
  name: string,
  error: string,
  check: () => Promise<boolean>,
): Promise<DependencyHealth["checks"][number]> {
  const startedMs = performance.now();
  const isHealthy = await check().catch(() => false); // the caller is told by name, and the log has what needed it
  const latency_ms = Math.round(performance.now() - startedMs);
  return isHealthy
    ? { name, status: "healthy", latency_ms }
    : { name, status: "unhealthy", latency_ms, error };
}

function holds(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false; // as above
  }
}
