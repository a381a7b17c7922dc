// Seals the values of the gateway area again under the newest key: credentials of users, and the private keys of inference
// tokens. The secret and its version stay the same. system/sealing-keys.ts decides when, and how many at a time.
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import { type SealedSecrets, sealedRows, sealedSigningKeys } from "../../shared/sealed-secrets.ts";
import { inferenceKeyStore } from "../inference/inference-keys-store.ts";
import * as store from "./rewrap-store.ts";
import { credentialContext } from "./sealed-credential.ts";

/** @returns the values even if gateway mode is off, because stored values outlive a change of the configuration */
export const gatewaySecrets = ({ sealing }: { sealing: Sealing }): readonly SealedSecrets[] => [
  sealedRows<store.SealedKey>({
    noun: "gateway_keys",
    topic: "gateway",
    sealing,
    contextOf: ({ id: userId, credentialVersion }) => credentialContext({ userId, credentialVersion }),
    store: {
      countUnder: store.countUnder,
      listUnder: store.listUnder,
      rewrap: (tx, { id: userId }, sealedCredential) =>
        store.resealKey(tx, { userId, sealedCredential, sealingKeyId: sealing.keyIdOf(sealedCredential) }),
    },
  }),
  sealedSigningKeys({
    noun: "gateway_signing_keys",
    topic: "gateway",
    sealing,
    store: inferenceKeyStore,
  }),
];
