// Minimal valid policy documents, of which each test changes one place.

import { checkDocument } from "../../../../src/domain/governance/document/check.ts";
import { readDraft } from "../../../../src/domain/governance/document/draft.ts";
import type { GovernanceConfig } from "../../../../src/domain/governance/model.ts";
import { checkRanges } from "../../../../src/domain/governance/versions/coverage.ts";
import { HARNESSES } from "../../../../src/domain/harnesses/harnesses.ts";
import type { Problem } from "../../../../src/platform/errors.ts";

export type Json = Record<string, unknown>;

export const DIGEST = "ab".repeat(32);

export const VERSION_CAPABILITIES: readonly string[] = [
  "adapter_intervals",
  "compiled_harness_registry",
  "transactional_reconcile",
  "versioned_state",
];

/** What a document must state if anything in it depends on versions. */
export const VERSION_AWARE: Json = {
  contract_version: 3,
  minimum_client_version: "0.1.0",
  required_capabilities: [...VERSION_CAPABILITIES, "unverified_harness_versions"],
};

export const documentWith = (members: Json = {}): Json => ({ revision: "any", ...members });

export const packageWith = (adapters: Json, id = "one"): Json => ({
  id,
  version: "1",
  source_ref: "one.tar.gz",
  sha256: DIGEST,
  adapters,
});

/** @returns the document if it is valid: checked as for publishing, but without stamps */
export function readDocument(
  input: unknown,
  { gateway } = { gateway: true },
): { document: GovernanceConfig | undefined; problems: Problem[] } {
  const { document, problems } = readDraft(input);
  if (problems.length > 0) return { document: undefined, problems };
  const found = checkDocument(document, { gateway, harnesses: HARNESSES });
  const isNew = (problem: Problem) => !found.some((known) => Bun.deepEquals(known, problem));
  const all = [...found, ...checkRanges(document, HARNESSES).filter(isNew)];
  return { document: all.length === 0 ? document : undefined, problems: all };
}

export const problemsOf = (input: unknown): Problem[] => readDocument(input).problems;
export const pointersOf = (input: unknown): string[] => problemsOf(input).map(({ pointer }) => pointer);
export const detailOf = (input: unknown): string => problemsOf(input)[0]?.detail ?? "";
