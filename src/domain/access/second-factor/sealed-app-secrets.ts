// The sealed secrets of authenticator apps, for the replacement of the sealing key (system/sealing-keys.ts).
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import { resealSecret, type SealedSecrets } from "../../shared/sealed-secrets.ts";
import * as store from "./second-factor-store.ts";
import { appContext } from "./second-factors.ts";

/** @returns the secrets of all users */
export const authenticatorSecrets = ({ sealing }: { sealing: Sealing }): SealedSecrets => ({
  noun: "authenticator_apps",
  topic: "access",
  count: store.countUnder,
  rewrap(tx, { from, after, limit }) {
    const rows = store.listUnder(tx, { from, after, limit });
    let rewrapped = 0;
    for (const { userId, sealedSecret } of rows) {
      const resealed = resealSecret(sealing, sealedSecret, appContext(userId));
      if (resealed === undefined) continue;
      store.reseal(tx, { userId, sealedSecret: resealed });
      rewrapped += 1;
    }
    const next = rows.length < limit ? undefined : rows.at(-1)?.userId;
    return { rewrapped, unreadable: rows.length - rewrapped, next };
  },
});
