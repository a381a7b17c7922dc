// Reads the claims in a request's headers about its origin: the agent, the repository and the run. A workstation may send
// anything, so these values are cleaned, truncated and never trusted.
import type { RequestRow } from "../log/record.ts";

export type Attribution = Pick<
  RequestRow,
  "harness" | "repository" | "branch" | "commitSha" | "dirty" | "runId" | "model" | "claimed"
>;

/** Headers with this prefix are for our log and do not reach the upstream. */
export const ATTRIBUTION_PREFIXES = ["x-harness-", "x-blue-"] as const;

/** Maximum characters of a value; longer values are truncated. */
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
 * @param bodyModel the model in the body, for a request without a model in its headers
 */
export function attributionOf(headers: Headers, path: string, bodyModel: string | null = null): Attribution {
  const agent = clean(headers.get("x-harness-agent"), ATTRIBUTION_MAX.harness);
  const model = clean(headers.get("x-harness-model"), ATTRIBUTION_MAX.model);
  const repository = withoutUserInfo(clean(headers.get("x-harness-repo"), ATTRIBUTION_MAX.repository));
  const branch = clean(headers.get("x-harness-git-branch"), ATTRIBUTION_MAX.branch);
  const commitSha = clean(headers.get("x-harness-commit"), ATTRIBUTION_MAX.commitSha);
  const dirty = flagIn(headers.get("x-harness-dirty"));
  const runId = clean(headers.get("x-harness-run-id"), ATTRIBUTION_MAX.runId);
  return {
    harness: agent ?? harnessOf(headers.get("user-agent"), path),
    model: model ?? bodyModel,
    repository,
    branch,
    commitSha,
    dirty,
    runId,
    claimed: (agent ?? model ?? repository ?? branch ?? commitSha ?? dirty ?? runId) !== null,
  };
}

function harnessOf(userAgent: string | null, path: string): string | null {
  if (userAgent !== null)
    for (const [pattern, harness] of PRODUCTS) if (pattern.test(userAgent)) return harness;
  return /^(?:\/v1)?\/responses\b/.test(path) ? "codex" : null;
}

/** @returns the value without control characters, truncated to its limit; null if nothing is left */
function clean(value: string | null, max: number): string | null {
  if (value === null) return null;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  const text = value.replace(/[\u0000-\u001f\u007f-\u009f]/g, "").trim();
  if (text === "") return null;
  return text.length <= max ? text : text.slice(0, max).replace(/[\uD800-\uDBFF]$/, "");
}

/** Removes a password from a remote: `https://user:password@host/path`. */
const withoutUserInfo = (repository: string | null): string | null =>
  repository?.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, "$1") ?? null;

function flagIn(value: string | null): boolean | null {
  if (value === "true" || value === "1") return true;
  return value === "false" || value === "0" ? false : null;
}
