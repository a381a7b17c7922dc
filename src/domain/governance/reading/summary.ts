// Summarizes the changes of a revision for the history: "2 packages updated, codex range narrowed". The summary is stored at
// publication, so that the history need not read documents.
import { isDeepStrictEqual } from "node:util";
import { countText } from "../../../platform/count-text.ts";
import type { Steps } from "../../../platform/steps.ts";
import { HARNESS_KEYS, type HarnessKey } from "../../harnesses/harnesses.ts";
import { type GovernanceConfig, type HarnessPolicy, NO_POLICY, type Revision } from "../model.ts";
import { changedAudiences } from "../publishing/diff.ts";
import { isNarrower } from "../versions/narrowing.ts";

/** Maximum number of changes that a summary names; others are counted. */
export const SUMMARY_PARTS_MAX = 6;

type Policy = Pick<Revision, "document" | "audiences">;

/** @returns one line; empty for a revision that differs only in stamps; `former` is undefined for the first revision */
export function* summaryOf(former: Policy | undefined, next: Policy): Steps<string> {
  if (!former) return "first policy";
  const audiences = new Set(changedAudiences(former, next).map((path) => path.split("/")[2])).size;
  const parts = yield* packageParts(former.document, next.document);
  if (audiences > 0) parts.push(`${countText(audiences, "audience")} changed`);
  for (const key of HARNESS_KEYS) {
    yield;
    parts.push(...harnessParts(key, former.document, next.document));
  }
  parts.push(...otherParts(former.document, next.document));
  const left = parts.length - SUMMARY_PARTS_MAX;
  return [...parts.slice(0, SUMMARY_PARTS_MAX), ...(left > 0 ? [`${left} more`] : [])].join(", ");
}

function* packageParts(former: GovernanceConfig, next: GovernanceConfig): Steps<string[]> {
  const before = new Map(former.packages.map((one) => [one.id, one]));
  const counts = { added: 0, updated: 0, changed: 0, removed: 0 };
  for (const managed of next.packages) {
    yield;
    const standing = before.get(managed.id);
    before.delete(managed.id);
    if (!standing) counts.added += 1;
    else if (standing.sha256 !== managed.sha256) counts.updated += 1;
    else if (!isDeepStrictEqual(standing, managed)) counts.changed += 1;
  }
  counts.removed = before.size;
  return Object.entries(counts).flatMap(([verb, count]) =>
    count === 0 ? [] : [`${countText(count, "package")} ${verb}`],
  );
}

function harnessParts(key: HarnessKey, former: GovernanceConfig, next: GovernanceConfig): string[] {
  const [was, is] = [former, next].map((document) => document.allowed_harnesses.includes(key));
  const allowed = was === is ? [] : [`${key} ${is ? "allowed" : "no longer allowed"}`];
  const [before = NO_POLICY, after = NO_POLICY] = [former.harnesses[key], next.harnesses[key]];
  const differs = (read: (policy: HarnessPolicy) => unknown) => !isDeepStrictEqual(read(before), read(after));
  return [
    ...allowed,
    ...rangePart(key, before, after),
    ...(differs((policy) => policy.managed_config) ? [`${key} settings changed`] : []),
    ...(differs((policy) => policy.mcp) ? [`${key} MCP servers changed`] : []),
    ...(differs((policy) => policy.package_overrides) ? [`${key} package settings changed`] : []),
    ...(differs((policy) => policy.gateway_models) ? [`${key} models changed`] : []),
  ];
}

function rangePart(key: HarnessKey, before: HarnessPolicy, after: HarnessPolicy): string[] {
  const [from, to] = [before.version_requirement, after.version_requirement];
  const accepts = after.allow_unverified_versions === true;
  // Without a range, unverified versions do not matter.
  const isAsked = to !== undefined && accepts !== (before.allow_unverified_versions === true);
  const unverified = isAsked ? [`${key} ${accepts ? "accepts" : "refuses"} unverified versions`] : [];
  if (from === to) return unverified;
  if (!isNarrower(from, to)) return [`${key} range widened`, ...unverified];
  return [`${key} range ${isNarrower(to, from) ? "moved" : "narrowed"}`, ...unverified];
}

/** Members of the document that administrators write; the service stamps the others. */
const OTHERS = {
  required: "whether the policy is required",
  ttl_seconds: "time to live",
  minimum_client_version: "minimum client version",
  required_client_version: "required client version",
  gateway: "gateway",
  session_upload: "session upload",
  telemetry: "telemetry",
} as const satisfies Partial<Record<keyof GovernanceConfig, string>>;

const otherParts = (former: GovernanceConfig, next: GovernanceConfig): string[] =>
  Object.entries(OTHERS).flatMap(([name, label]) =>
    isDeepStrictEqual(memberOf(former, name), memberOf(next, name)) ? [] : [`${label} changed`],
  );

const memberOf = (document: GovernanceConfig, name: string): unknown =>
  Object.entries(document).find(([key]) => key === name)?.[1];
