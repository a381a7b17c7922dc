// The keys that sign inference tokens: RSA, because proxies expect it. signing-key-ring.ts rotates them.
import { SigningKeyRing, type SigningKeyRingOptions } from "../../shared/signing-keys/signing-key-ring.ts";
import type { GatewaySettings } from "../settings.ts";
import { inferenceKeyStore } from "./inference-keys-store.ts";

type Machine = Pick<SigningKeyRingOptions, "db" | "clock" | "audit" | "sealing">;

/** Called once, when the area is assembled. */
export const createInferenceKeys = (
  { db, clock, audit, sealing }: Machine,
  { tokenTtlSeconds, rotationDays }: GatewaySettings["inferenceJwt"],
): SigningKeyRing =>
  new SigningKeyRing({
    db,
    clock,
    audit,
    sealing,
    store: inferenceKeyStore,
    topic: "gateway",
    algorithm: "RS256",
    typ: "JWT",
    noun: "gateway_signing_key",
    tokenTtlSeconds,
    rotationDays,
  });
