// Claims of a request's headers about its origin: the agent, the repository and the run. A workstation may send anything, so
// these values are cleaned, cut to their limits and never trusted.
import type { RequestRow } from "../log/record.ts";

export type Attribution = Pick<
  RequestRow,
  "harness" | "repository" | "branch" | "commitSha" | "dirty" | "runId" | "claimed"
> & {
  /** preferred over the model that the body names */
  readonly claimedModel: string | null;
};

/** Every header with this prefix is for our log and does not reach the upstream. */
export const ATTRIBUTION_PREFIXES = ["x-harness-", "x-blue-"] as const;

/** Characters of a value; longer ones are cut. */
export const ATTRIBUTION_MAX = {
  harness: 128,
  repository: 2048,
  branch: 512,
  commitSha: 128,
  runId: 512,
  model: 512,
} as const;

/** Products in `User-Agent` that identify a harness. */
const PRODUCTS: readonly (readonly [product: RegExp, harness: string])[] = [
  [/^claude-cli\b/i, "claude"],
  [/^codex_/i, "codex"],
  [/^opencode\b/i, "opencode"],
  [/^kimi/i, "kimi"],
];

/**
 * @param headers of the request
 * @param path canonical; `/responses` is used by one harness only
 */
export function attributionOf(headers: Headers, path: string): Attribution {
  const read = (name: string, max: number) => clean(headers.get(`x-harness-${name}`), max);
  const agent = read("agent", ATTRIBUTION_MAX.harness);
  const claims = {
    claimedModel: read("model", ATTRIBUTION_MAX.model),
    repository: withoutUserInfo(read("repo", ATTRIBUTION_MAX.repository)),
    branch: read("git-branch", ATTRIBUTION_MAX.branch),
    commitSha: read("commit", ATTRIBUTION_MAX.commitSha),
    dirty: flagIn(headers.get("x-harness-dirty")),
    runId: read("run-id", ATTRIBUTION_MAX.runId),
  };
  const claimed = agent !== null || Object.values(claims).some((value) => value !== null);
  return { ...claims, claimed, harness: agent ?? harnessOf(headers.get("user-agent"), path) };
}

function harnessOf(userAgent: string | null, path: string): string | null {
  const product = PRODUCTS.find(([pattern]) => pattern.test(userAgent ?? ""));
  if (product) return product[1];
  return /^(?:\/v1)?\/responses\b/.test(path) ? "codex" : null;
}

/** @returns the value without control characters, cut to its limit; null if nothing is left */
function clean(value: string | null, max: number): string | null {
  if (value === null) return null;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  const text = value.replace(/[\u0000-\u001f\u007f-\u009f]/g, "").trim();
  if (text === "") return null;
  return text.length <= max ? text : text.slice(0, max).replace(/[\uD800-\uDBFF]$/, "");
}

/** A remote may be written with a password: `https://user:password@host/path`. */
const withoutUserInfo = (repository: string | null): string | null =>
  repository?.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, "$1") ?? null;

function flagIn(value: string | null): boolean | null {
  if (value === "true" || value === "1") return true;
  return value === "false" || value === "0" ? false : null;
}
