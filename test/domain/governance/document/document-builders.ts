// Policy documents for tests: the smallest ones that are right, to be spoilt in one place.

import { readDocument } from "../../../../src/domain/governance/document/read.ts";
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

/** What a document must state once anything in it depends on versions. */
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

/** Everything wrong with a document, in gateway mode. */
export const problemsOf = (input: unknown): Problem[] =>
  readDocument(input, { gateway: true, harnesses: HARNESSES }).problems;
export const pointersOf = (input: unknown): string[] => problemsOf(input).map(({ pointer }) => pointer);
export const detailOf = (input: unknown): string => problemsOf(input)[0]?.detail ?? "";
