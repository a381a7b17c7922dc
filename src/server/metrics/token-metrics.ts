// Counts issued tokens by grant type and first-time token verifications, and reports the memory of the verified-token cache.
import { Counter, Gauge, type Registry } from "prom-client";
import { DEVICE_CODE_GRANT, REFRESH_GRANT } from "../../domain/access/wire.ts";

/** Label by `grant_type`, which may be a URN. */
const GRANTS: Readonly<Record<string, string>> = {
  [DEVICE_CODE_GRANT]: "device_code",
  [REFRESH_GRANT]: "refresh_token",
};

/** @returns a function that counts one token response; create it once */
export function createTokenMetrics(metrics: Registry): (grantType: string | undefined) => void {
  const issued = new Counter({
    name: "quartermaster_tokens_issued_total",
    help: "Answers with tokens by grant",
    labelNames: ["grant"],
    registers: [metrics],
  });
  for (const grant of Object.values(GRANTS)) issued.inc({ grant }, 0);
  return (grantType = "") => {
    const grant = GRANTS[grantType];
    if (grant !== undefined) issued.inc({ grant });
  };
}

/** Result of a token verification. */
export type Verdict = "accepted" | "refused";
const VERDICTS: readonly Verdict[] = ["accepted", "refused"];

/**
 * @param memoryBytes size of the cache of verified tokens and their holders
 * @returns a function that counts one verification; create it once
 */
export function createVerificationMetrics(
  metrics: Registry,
  memoryBytes: () => number,
): (verdict: Verdict) => void {
  new Gauge({
    name: "quartermaster_verified_tokens_bytes",
    help: "Memory used by verified access tokens and their workstations",
    registers: [metrics],
    collect() {
      this.set(memoryBytes());
    },
  });
  const verified = new Counter({
    name: "quartermaster_token_verifications_total",
    help: "Access tokens seen for the first time",
    labelNames: ["result"],
    registers: [metrics],
  });
  for (const result of VERDICTS) verified.inc({ result }, 0);
  return (result) => verified.inc({ result });
}
