// Replaces a key that the gateway refused, while the request waits briefly. Requests with the same key share one replacement.
import { SECOND_MS, within } from "../../../platform/clock.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Secret } from "../../../platform/secret.ts";
import { systemActor } from "../keys/key-changes.ts";
import type { GatewayKeys, RejectionReason } from "../keys/keys.ts";
import type { Resolve } from "./key-resolver.ts";

/** How long a request waits for its new key. */
const REPLACEMENT_WAIT_MS = 3 * SECOND_MS;

export interface UsableKey {
  readonly credential: Secret;
  readonly credentialVersion: string;
}

/** The key and the caller of a refused request. */
interface UsedKey {
  readonly userId: string;
  readonly organizationId: string;
  readonly gatewaySessionId: string;
  readonly credentialVersion: string;
}

export interface KeyReplacementDependencies {
  keys: Pick<GatewayKeys, "reportRejected" | "attempts">;
  resolve: Resolve;
}

/**
 * Reports the key and waits for a new one.
 * @returns undefined if no key arrives in time, or the caller has lost access
 */
export type ReplaceKey = (used: UsedKey, reason: RejectionReason) => Promise<UsableKey | undefined>;

/** Called once, in inference.ts. */
export const createKeyReplacement =
  ({ keys, resolve }: KeyReplacementDependencies): ReplaceKey =>
  async (used, reason) => {
    const replace = async (): Promise<UsableKey | undefined> => {
      const { userId, credentialVersion } = used;
      const actor = systemActor(used);
      await keys.reportRejected({ actor, userId, credentialVersion, reason });
      await keys.attempts?.run(userId, { actor, manual: false, force: false, replace: true });
      const key = resolve(used);
      return key.credentialVersion === credentialVersion ? undefined : key;
    };
    return await within(REPLACEMENT_WAIT_MS, replace().catch(noKey));
  };

/** The key is unchanged, and the next request gets its state. */
function noKey(error: unknown): undefined {
  if (!(error instanceof DomainError)) throw error;
}
