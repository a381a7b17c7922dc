// Seals the sealed values of the gateway area again under the newest key: credentials of users, and the private keys of
// inference tokens. The secret and its version stay the same. system/sealing-keys.ts decides when, and how many at once.
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import { resealSecret, type SealedSecrets, sealedSigningKeys } from "../../shared/sealed-secrets.ts";
import { inferenceKeyStore } from "../inference/inference-keys-store.ts";
import * as store from "./rewrap-store.ts";
import { credentialContext } from "./sealed-credential.ts";

/** @returns them whether gateway mode is on or off: stored values outlive a change of the configuration */
export const gatewaySecrets = ({ sealing }: { sealing: Sealing }): readonly SealedSecrets[] => [
  {
    noun: "gateway_keys",
    topic: "gateway",
    count: store.countUnder,
    rewrap(tx, { from, after, limit }) {
      const keys = store.listUnder(tx, { from, after, limit });
      let rewrapped = 0;
      for (const key of keys) {
        const sealedCredential = resealSecret(sealing, key.sealedCredential ?? "", credentialContext(key));
        if (sealedCredential === undefined) continue;
        const sealingKeyId = sealing.keyIdOf(sealedCredential);
        store.resealKey(tx, { userId: key.userId, sealedCredential, sealingKeyId });
        rewrapped += 1;
      }
      const next = keys.length < limit ? undefined : keys.at(-1)?.userId;
      return { rewrapped, unreadable: keys.length - rewrapped, next };
    },
  },
  sealedSigningKeys({
    noun: "gateway_signing_keys",
    topic: "gateway",
    sealing,
    store: inferenceKeyStore,
  }),
];
