// Counts the tokens that are handed out, by the grant they were asked for with (operator-experience.md OBS-3).
import { DEVICE_CODE_GRANT, REFRESH_GRANT } from "../domain/access/wire.ts";
import type { Metrics } from "../platform/metrics.ts";

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
