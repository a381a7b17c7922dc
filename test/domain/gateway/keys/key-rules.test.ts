// The rules of a gateway key other than those about time: what a provisioner must return, what it is told about the previous key,
// what a running attempt writes, and what the status shows.
import { describe, expect, test } from "bun:test";
import { type GatewayKeyStatus, toKeyStatus } from "../../../../src/domain/gateway/keys/key-status.ts";
import {
  ATTEMPT_LEASE_MS,
  EXPIRED_PROBLEM,
  type KeyRow,
  leaseChanges,
  missingFields,
  previousKey,
  REPLACEMENT_WINDOW_MS,
} from "../../../../src/domain/gateway/model.ts";
import type { ProvisionedKey } from "../../../../src/domain/gateway/provisioners/provisioner.ts";
import { toRfc3339 } from "../../../../src/platform/clock.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { NOW, row } from "./key-row.ts";

describe("a provisioner's answer", () => {
  const kept: ProvisionedKey = { externalId: "key-2", alias: "a", metadata: null, expiresAtMs: null };
  const credential = new Secret("s");
  test.each<[string, Partial<ProvisionedKey>, string | undefined]>([
    ["nothing is missing", { credential }, undefined],
    ["nothing is missing if the key expires later", { expiresAtMs: NOW + 1 }, undefined],
    ["the credential may be missing if one is stored", {}, undefined],
    ["a blank id is missing", { externalId: " " }, "the provisioner returned no external id"],
    ["a blank alias is missing", { alias: "\t" }, "the provisioner returned no alias"],
    [
      "a blank credential counts as none",
      { credential: new Secret(" ") },
      "the provisioner returned a blank credential",
    ],
    [
      "a key that expires now has expired",
      { expiresAtMs: NOW },
      "the provisioner returned a key that has expired",
    ],
  ])("%s", (_what, changes, missing) => {
    expect(missingFields(row(), { ...kept, ...changes }, NOW)).toBe(missing);
  });

  test("the credential is missing if none is stored", () => {
    const first = row({ sealedCredential: null });
    expect(missingFields(first, kept, NOW)).toBe("the provisioner returned no credential");
    expect(missingFields(first, { ...kept, credential }, NOW)).toBeUndefined();
  });
});

describe("the previous key, as a provisioner receives it", () => {
  test.each<[string, KeyRow | undefined, ReturnType<typeof previousKey>]>([
    ["of a ready key", row(), { externalId: "key-1", alias: "a", metadata: null }],
    ["with metadata", row({ metadata: '{"b":1}' }), { externalId: "key-1", alias: "a", metadata: { b: 1 } }],
    ["without a row", undefined, null],
    ["of a key that failed", row({ state: "error" }), null],
    ["without an id", row({ externalId: null }), null],
    ["without an alias", row({ alias: null }), null],
  ])("%s", (_what, stored, previous) => {
    expect(previousKey(stored)).toEqual(previous);
  });
});

describe("an attempt", () => {
  const lease = { recoveringUntilMs: NOW + ATTEMPT_LEASE_MS, nextAttemptAtMs: NOW + ATTEMPT_LEASE_MS };
  const rejected = { state: "invalid", invalidatedAtMs: NOW - 1 } as const;
  const since = (ms: number) => ({ replacements: 3, replacementsSinceMs: NOW - ms });
  const spent = (replacements: number, ms: number) => ({ replacements, replacementsSinceMs: NOW - ms });
  test.each<[string, Partial<KeyRow>, boolean, Partial<KeyRow>]>([
    ["leaves a usable key ready", {}, false, { state: "ready" }],
    ["recovers a failed one", { state: "error" }, false, { state: "recovering" }],
    ["opens a window of replacements", rejected, false, { state: "recovering", ...spent(1, 0) }],
    [
      "continues in an open one",
      { ...rejected, ...since(5) },
      false,
      { state: "recovering", ...spent(4, 5) },
    ],
    [
      "opens another window after the first one ends",
      { ...rejected, ...since(REPLACEMENT_WINDOW_MS) },
      false,
      { state: "recovering", ...spent(1, 0) },
    ],
    ["that a person requested is not counted", { ...rejected, ...since(5) }, true, { state: "recovering" }],
  ])("%s", (_what, stored, manual, changes) => {
    expect(leaseChanges(row(stored), { nowMs: NOW, manual })).toEqual({ ...lease, ...changes });
  });
});

describe("the status", () => {
  const later = toRfc3339(NOW + 1);
  const none: GatewayKeyStatus = {
    enabled: true,
    email: "b@example.org",
    status: "missing",
    alias: null,
    external_id: null,
    expires_at: null,
    last_reconciled_at: null,
    error: null,
    invalidated_at: null,
    invalidation_reason: null,
    next_retry_at: null,
  };
  const ready: GatewayKeyStatus = {
    ...none,
    status: "ready",
    alias: "a",
    external_id: "key-1",
    last_reconciled_at: toRfc3339(NOW),
  };
  const lost = { state: "invalid", invalidatedAtMs: NOW, invalidationReason: "blocked" } as const;
  const lostStatus: Partial<GatewayKeyStatus> = {
    status: "invalid",
    invalidated_at: toRfc3339(NOW),
    invalidation_reason: "blocked",
  };
  test.each<[string, KeyRow | undefined, GatewayKeyStatus]>([
    ["without a row", undefined, none],
    ["of a ready key", row(), ready],
    ["of a key that expires later", row({ expiresAtMs: NOW + 1 }), { ...ready, expires_at: later }],
    [
      "of a key that expires now",
      row({ expiresAtMs: NOW }),
      { ...none, status: "error", error: EXPIRED_PROBLEM },
    ],
    ["of a ready key with a problem", row({ problem: "p" }), { ...ready, error: "p", next_retry_at: later }],
    [
      "of a failed attempt",
      row({ state: "error", problem: "p" }),
      { ...none, status: "error", error: "p", next_retry_at: later },
    ],
    ["of a lost key", row(lost), { ...none, ...lostStatus, next_retry_at: later }],
  ])("%s", (_what, stored, status) => {
    expect(toKeyStatus(stored, { email: "b@example.org", enabled: true, nowMs: NOW })).toEqual(status);
  });

  test("shows nothing while gateway mode is off", () => {
    const status = toKeyStatus(row(), { email: "b@example.org", enabled: false, nowMs: NOW });
    expect(status).toEqual({ ...none, enabled: false });
  });
});
