// RateLimit headers of a refusal. The draft that defines them still changes, so only this file has their names.
import type { SpentBudget } from "../../platform/errors.ts";

/**
 * @param retryAfterSeconds until the budget allows a request again
 * @source draft-ietf-httpapi-ratelimit-headers-10 sections 3 and 4
 */
export const budgetHeaders = (
  { name, limit, windowSeconds }: SpentBudget,
  retryAfterSeconds: number,
): Record<string, string> => ({
  "ratelimit-policy": `"${name}";q=${limit};w=${windowSeconds}`,
  ratelimit: `"${name}";r=0;t=${retryAfterSeconds}`,
});
