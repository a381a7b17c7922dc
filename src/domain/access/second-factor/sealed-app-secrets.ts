// The sealed secrets of authenticator apps, for the replacement of the sealing key (system/sealing-keys.ts).
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import { type SealedSecrets, sealedRows } from "../../shared/sealed-secrets.ts";
import * as store from "./second-factor-store.ts";
import { appContext } from "./second-factors.ts";

/** @returns the secrets of all users */
export const authenticatorSecrets = ({ sealing }: { sealing: Sealing }): SealedSecrets =>
  sealedRows({
    noun: "authenticator_apps",
    topic: "access",
    sealing,
    store: store.sealedApps,
    contextOf: ({ id }) => appContext(id),
  });
