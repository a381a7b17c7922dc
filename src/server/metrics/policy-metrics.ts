// Metrics of policy delivery: results of fetches, and the revision in force.
import type { Domain } from "../../domain/domain.ts";
import type { Metrics } from "../../platform/observe/metrics.ts";
import { failureOf } from "../http/problems/problem.ts";

/** Counts the result of one fetch and passes it on. */
export type CountFetch = (answer: () => Response | Promise<Response>) => Response | Promise<Response>;

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

/** @returns the counting function; create it once */
export function createFetchMetrics(
  metrics: Metrics,
  { identity, governance }: Pick<Domain, "identity" | "governance">,
): CountFetch {
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
  const counters = new Map(results.map((result) => [result, fetches.labels(result)]));
  const count = (status: number) => counters.get(RESULTS[status] ?? FAILED)?.inc();
  const passed = (response: Response): Response => {
    count(response.status);
    return response;
  };
  const refused = (error: unknown): never => {
    count(failureOf(error)?.status ?? 500);
    throw error;
  };
  return (answer) => {
    try {
      const answered = answer();
      return answered instanceof Promise ? answered.then(passed, refused) : passed(answered);
    } catch (error) {
      return refused(error);
    }
  };
}
