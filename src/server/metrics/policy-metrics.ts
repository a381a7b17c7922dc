// Metrics of policy delivery: results of fetches, and the revision in force.
import { Counter, Gauge, type Registry } from "prom-client";
import type { Domain } from "../../domain/domain.ts";

/** Result by status; any other status is `failed`. */
const RESULTS: Readonly<Record<number, string>> = {
  200: "sent",
  304: "unchanged",
  401: "refused",
  403: "refused",
  404: "no_policy",
  409: "key_needed",
  426: "client_too_old",
};
const FAILED = "failed";

/** @returns a function that counts a fetch by the status of its answer; create it once */
export function createFetchMetrics(
  metrics: Registry,
  { identity, governance }: Pick<Domain, "identity" | "governance">,
): (status: number) => void {
  new Gauge({
    name: "quartermaster_policy_revision",
    help: "Place of the revision in force in the order of publishing; 0 without one",
    registers: [metrics],
    collect() {
      const organization = identity.organization();
      this.set((organization && governance.current(organization.id)?.sequence) ?? 0);
    },
  });
  const fetches = new Counter({
    name: "quartermaster_policy_fetches_total",
    help: "Policy fetches by how they ended",
    labelNames: ["result"],
    registers: [metrics],
  });
  for (const result of [...Object.values(RESULTS), FAILED]) fetches.inc({ result }, 0);
  return (status) => fetches.inc({ result: RESULTS[status] ?? FAILED });
}
