// The keys that sign access tokens. signing-key-ring.ts rotates keys; access-tokens.ts defines the claims.
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import { type SealedSecrets, sealedSigningKeys } from "../../shared/sealed-secrets.ts";
import { SigningKeyRing, type SigningKeyRingOptions } from "../../shared/signing-keys/signing-key-ring.ts";
import type { AccessSettings } from "../settings.ts";
import { accessKeyStore } from "./signing-keys-store.ts";

export interface SigningKeysDependencies
  extends Pick<SigningKeyRingOptions, "db" | "clock" | "audit" | "sealing"> {
  settings: Pick<AccessSettings, "accessTokenTtlSeconds" | "signingKeyRotationDays">;
}

/** Header `typ` of an access token (RFC 9068 section 2.1). */
export const ACCESS_TOKEN_TYPE = "at+jwt";

/** The signing keys of this data directory; created once, in service.ts. */
export class SigningKeys extends SigningKeyRing {
  constructor({ settings, ...machine }: SigningKeysDependencies) {
    super({
      ...machine,
      store: accessKeyStore,
      topic: "access",
      algorithm: "EdDSA",
      typ: ACCESS_TOKEN_TYPE,
      noun: "signing_key",
      tokenTtlSeconds: settings.accessTokenTtlSeconds,
      rotationDays: settings.signingKeyRotationDays,
    });
  }
}

/** @returns the private keys, for replacing the sealing key */
export const accessSecrets = ({ sealing }: { sealing: Sealing }): SealedSecrets =>
  sealedSigningKeys({
    noun: "signing_keys",
    topic: "access",
    sealing,
    store: accessKeyStore,
  });
