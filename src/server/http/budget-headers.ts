// How a refusal says which budget is used up. The draft that names these headers changes; only this file knows them.
import type { SpentBudget } from "../../platform/errors.ts";

/**
 * @param retryAfterSeconds until there is room again
 * @source draft-ietf-httpapi-ratelimit-headers-10 sections 3 and 4; operator-experience.md API-3
 */
export const budgetHeaders = (
  { name, limit, windowSeconds }: SpentBudget,
  retryAfterSeconds: number,
): Record<string, string> => ({
  "ratelimit-policy": `"${name}";q=${limit};w=${windowSeconds}`,
  ratelimit: `"${name}";r=0;t=${retryAfterSeconds}`,
});
