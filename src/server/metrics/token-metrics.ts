// Counts the tokens that are handed out, by the grant they were asked for with (operator-experience.md OBS-3), and those that
// come for the first time; tells what the memory of verified ones takes.
import { DEVICE_CODE_GRANT, REFRESH_GRANT } from "../../domain/access/wire.ts";
import type { Metrics } from "../../platform/observe/metrics.ts";

/** By `grant_type` as it is sent, which may be a whole URN. */
const GRANTS: Readonly<Record<string, string>> = {
  [DEVICE_CODE_GRANT]: "device_code",
  [REFRESH_GRANT]: "refresh_token",
};

/** @returns what counts one answer with tokens; made once */
export function createTokenMetrics(metrics: Metrics): (grantType: string | undefined) => void {
  const issued = metrics.counter("tokens_issued_total", "Answers with tokens by grant", {
    labels: { grant: Object.values(GRANTS) },
  });
  const counters = new Map(Object.entries(GRANTS).map(([type, grant]) => [type, issued.labels(grant)]));
  return (grantType) => counters.get(grantType ?? "")?.inc();
}

/** How the verification of a token ends. */
export type Verdict = "accepted" | "refused";
const VERDICTS: readonly Verdict[] = ["accepted", "refused"];

/**
 * @param memoryBytes of tokens that were verified and of who holds their grants
 * @returns what counts one verification; made once
 */
export function createVerificationMetrics(
  metrics: Metrics,
  memoryBytes: () => number,
): (verdict: Verdict) => void {
  metrics.gauge("verified_tokens_bytes", "Memory of verified access tokens and of their holders", {
    read: (set) => set(memoryBytes()),
  });
  const verified = metrics.counter(
    "token_verifications_total",
    "Access tokens that came for the first time",
    {
      labels: { result: VERDICTS },
    },
  );
  const counters = { accepted: verified.labels("accepted"), refused: verified.labels("refused") };
  return (verdict) => counters[verdict].inc();
}
