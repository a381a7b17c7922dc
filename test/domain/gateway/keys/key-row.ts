// A row of a healthy gateway key, for tests of the rules that read rows.
import type { KeyRow } from "../../../../src/domain/gateway/model.ts";

export const NOW = 1_000_000_000_000;

export const row = (changes: Partial<KeyRow> = {}): KeyRow => ({
  userId: "u",
  organizationId: "o",
  state: "ready",
  email: "ana@example.org",
  externalId: "key-1",
  alias: "a",
  metadata: null,
  configurationDigest: "first",
  credentialVersion: "v",
  sealedCredential: "s",
  sealingKeyId: "k",
  expiresAtMs: null,
  invalidatedAtMs: null,
  invalidationReason: null,
  problemCode: null,
  problem: null,
  failures: 0,
  replacements: 0,
  replacementsSinceMs: null,
  nextAttemptAtMs: NOW + 1,
  recoveringUntilMs: null,
  recoveringBy: null,
  leftovers: false,
  reconciledAtMs: NOW,
  validatedAtMs: NOW,
  createdAtMs: NOW,
  updatedAtMs: NOW,
  ...changes,
});
