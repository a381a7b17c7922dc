// The built-in provisioner for a gateway with LiteLLM's admin API: keeps exactly one key of ours in the account of each user.
// litellm-provisioning.ts creates and keeps keys. Source: handbook: gateway, The built-in provisioner.
import { type Clock, SECOND_MS } from "../../../../platform/clock.ts";
import { invariant } from "../../../../platform/errors.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import type { GatewaySettings } from "../../settings.ts";
import { ListingError, toModelListing } from "../model-listing.ts";
import { listingCodeOf, type Provisioner, ProvisionerError } from "../provisioner.ts";
import { findAccounts, foldEmail, LITELLM_PROVISIONER, selectOwnKeys } from "./litellm-account.ts";
import { LitellmApi } from "./litellm-api.ts";
import { Provisioning } from "./litellm-provisioning.ts";
import type { AdminRequest } from "./litellm-request.ts";

/** Time limit for the list of models, if the limit of a provisioner call is longer. */
const LISTING_TIMEOUT_MS = 15 * SECOND_MS;

export interface LitellmDependencies {
  settings: Pick<GatewaySettings, "provisioner">;
  request: AdminRequest;
  clock: Clock;
}

/** @returns the provisioner of type LITELLM_PROVISIONER; the configuration guarantees an admin key */
export function createLitellmProvisioner({ settings, request, clock }: LitellmDependencies): Provisioner {
  const { adminKey, policy } = settings.provisioner;
  invariant(adminKey, "the built-in provisioner has an admin key");
  const apiFor = (signal: AbortSignal) => new LitellmApi({ request, adminKey }, signal);
  return {
    type: LITELLM_PROVISIONER,
    async provision(request, signal) {
      return await new Provisioning(apiFor(signal), { policy, clock }).run(request);
    },
    async revoke({ identity, externalId }, signal) {
      const api = apiFor(signal);
      if (externalId !== null) return await api.remove(externalId);
      const email = foldEmail(identity.email);
      for (const account of await findAccounts(api, email)) {
        const listed = await api.keys(account.userId);
        for (const { token } of selectOwnKeys(listed, email)) await api.remove(token);
      }
    },
    async listModels(signal) {
      const bounded = AbortSignal.any([signal, AbortSignal.timeout(LISTING_TIMEOUT_MS)]);
      try {
        return await runInTurns(toModelListing({ models: await apiFor(bounded).models() }));
      } catch (error) {
        if (!(error instanceof ProvisionerError)) throw error;
        throw new ListingError(listingCodeOf(error.code), error.diagnosis, { cause: error.cause });
      }
    },
  };
}
