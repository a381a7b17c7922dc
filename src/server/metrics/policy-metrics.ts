// Metrics of policy delivery: results of fetches, and the revision in force.
import type { Domain } from "../../domain/domain.ts";
import type { Metrics } from "../../platform/observe/metrics.ts";

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
  metrics: Metrics,
  { identity, governance }: Pick<Domain, "identity" | "governance">,
): (status: number) => void {
  metrics.gauge(
    "policy_revision",
    "Place of the revision in force in the order of publishing; 0 without one",
    {
      read(set) {
        const organization = identity.organization();
        set((organization && governance.current(organization.id)?.sequence) ?? 0);
      },
    },
  );
  const results = [...new Set([...Object.values(RESULTS), FAILED])];
  const fetches = metrics.counter("policy_fetches_total", "Policy fetches by how they ended", {
    labels: { result: results },
  });
  return (status) => fetches.labels(RESULTS[status] ?? FAILED).inc();
}
