// Counts issued tokens by grant type and first-time token verifications, and reports the memory of the verified-token cache.
import { DEVICE_CODE_GRANT, REFRESH_GRANT } from "../../domain/access/wire.ts";
import type { Metrics } from "../../platform/observe/metrics.ts";

/** Label by `grant_type`, which may be a URN. */
const GRANTS: Readonly<Record<string, string>> = {
  [DEVICE_CODE_GRANT]: "device_code",
  [REFRESH_GRANT]: "refresh_token",
};

/** @returns a function that counts one token response; create it once */
export function createTokenMetrics(metrics: Metrics): (grantType: string | undefined) => void {
  const issued = metrics.counter("tokens_issued_total", "Answers with tokens by grant", {
    labels: { grant: Object.values(GRANTS) },
  });
  const counters = new Map(Object.entries(GRANTS).map(([type, grant]) => [type, issued.labels(grant)]));
  return (grantType) => counters.get(grantType ?? "")?.inc();
}

/** Result of a token verification. */
export type Verdict = "accepted" | "refused";
const VERDICTS: readonly Verdict[] = ["accepted", "refused"];

/**
 * @param memoryBytes size of the cache of verified tokens and their holders
 * @returns a function that counts one verification; create it once
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
