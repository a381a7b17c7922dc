// Metrics about package sources at repository connections. No label names a repository.
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { PROVIDERS } from "../../../domain/catalog/connections/connection.ts";
import { SOURCE_OUTCOMES } from "../../../domain/catalog/connections/errors.ts";
import type { SourceInspection } from "../../../domain/catalog/mirroring/mirrors.ts";
import type { PackageSources } from "../../../domain/catalog/service.ts";
import type { Domain } from "../../../domain/domain.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import { SECOND_MS } from "../../../platform/clock.ts";

const INSPECTION_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60];

/** Registers its metrics, so call it once per service. @returns the observer of inspections */
export function watchSources({ metrics }: { metrics: Registry }): (inspection: SourceInspection) => void {
  const registers = [metrics];
  const inspections = new Counter({
    name: "quartermaster_source_inspections_total",
    help: "Inspections of repositories by provider and outcome",
    labelNames: ["provider", "outcome"],
    registers,
  });
  const durations = new Histogram({
    name: "quartermaster_source_inspection_duration_seconds",
    help: "Duration of such an inspection",
    buckets: INSPECTION_SECONDS,
    registers,
  });
  const bytes = new Counter({
    name: "quartermaster_source_bytes_total",
    help: "Bytes of archives received from repository hosts",
    registers,
  });
  for (const provider of PROVIDERS)
    for (const outcome of SOURCE_OUTCOMES) inspections.inc({ provider, outcome }, 0);
  return ({ provider, outcome, durationMs, hostBytes }) => {
    inspections.inc({ provider, outcome });
    durations.observe(durationMs / SECOND_MS);
    bytes.inc(hostBytes);
  };
}

/** Adds figures that are counted on each scrape: stored archives, and packages of the policy with a newer commit. */
export function watchArtifacts(
  metrics: Registry,
  { artifacts, sourceWatch }: Pick<Domain, "artifacts" | "sourceWatch">,
  { organizationId }: Pick<Actor, "organizationId">,
): void {
  new Gauge({
    name: "quartermaster_package_artifacts",
    help: "Stored package archives: used by a policy, a draft or the catalog, or unused",
    labelNames: ["state"],
    registers: [metrics],
    collect() {
      const { named, unnamed } = artifacts.counts(organizationId);
      this.set({ state: "named" }, named);
      this.set({ state: "unnamed" }, unnamed);
    },
  });
  new Gauge({
    name: "quartermaster_package_sources_behind",
    help: "Packages of the policy whose branch or tag points to a newer commit",
    registers: [metrics],
    collect() {
      this.set(sourceWatch.behind(organizationId).length);
    },
  });
}

/** Adds the remaining lifetime of the last token from a host for an app. */
export function watchSourceTokens(metrics: Registry, { mirrors }: Pick<PackageSources, "mirrors">): void {
  new Gauge({
    name: "quartermaster_source_credential_expires_seconds",
    help: "Remaining lifetime of the credential of a repository connection, if its host reports one",
    labelNames: ["connection"],
    registers: [metrics],
    collect() {
      this.reset();
      for (const { id, seconds } of mirrors.credentialEnds()) this.set({ connection: id }, seconds);
    },
  });
}
