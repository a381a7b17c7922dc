// Calls of the provisioner by this process: limited in number, each with its deadline, and each reported to the observer.
import pLimit from "p-limit";
import { SECOND_MS } from "../../../platform/clock.ts";
import type { GatewayDependencies, GatewayMode, ProvisionerCall } from "../dependencies.ts";
import { ListingError, type ModelListing } from "./model-listing.ts";
import {
  listingCodeOf,
  type ProvisionedKey,
  type Provisioner,
  ProvisionerError,
  type ProvisionRequest,
  type RevokeRequest,
} from "./provisioner.ts";

export interface ListingQuestion {
  /** id of the request that caused the call */
  requestId?: string | undefined;
  /** ends the call before its deadline */
  signal?: AbortSignal | undefined;
}

export class ProvisionerCalls {
  readonly #limit;

  constructor(
    private readonly mode: GatewayMode,
    private readonly observe: GatewayDependencies["observe"],
  ) {
    this.#limit = pLimit(mode.settings.provisioner.maxConcurrency);
  }

  /** @param requestId of the request that caused the call @throws ProvisionerError */
  provision(request: ProvisionRequest, requestId: string | undefined): Promise<ProvisionedKey> {
    const whose = { userId: request.identity.id, requestId };
    return this.#call("provision", whose, (provisioner, signal) => provisioner.provision(request, signal));
  }

  /** @throws ProvisionerError */
  revoke(request: RevokeRequest): Promise<void> {
    const whose = { userId: request.identity.id };
    return this.#call("revoke", whose, (provisioner, signal) => provisioner.revoke(request, signal));
  }

  /** @throws ListingError */
  listModels({ requestId, signal }: ListingQuestion): Promise<ModelListing> {
    return this.#call("list_models", { requestId }, (provisioner, deadline) =>
      provisioner.listModels(signal ? AbortSignal.any([signal, deadline]) : deadline),
    );
  }

  #call<T>(
    operation: ProvisionerCall["operation"],
    whose: Pick<ProvisionerCall, "userId" | "requestId">,
    call: (provisioner: Provisioner, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return this.#limit(async () => {
      const { provisioner, settings } = this.mode;
      const startedMs = performance.now();
      const observation = () => ({ operation, ...whose, durationMs: performance.now() - startedMs });
      try {
        const timeoutMs = settings.provisioner.timeoutSeconds * SECOND_MS;
        const response = await call(provisioner, AbortSignal.timeout(timeoutMs));
        this.observe({ ...observation(), outcome: "succeeded" });
        return response;
      } catch (thrown) {
        const error = operation === "list_models" ? asListingError(thrown) : asProvisionerError(thrown);
        this.observe({ ...observation(), outcome: error.code, diagnosis: error.diagnosis });
        throw error;
      }
    });
  }
}

const asListingError = (thrown: unknown): ListingError => {
  if (thrown instanceof ListingError) return thrown;
  const { code, diagnosis, cause } = asProvisionerError(thrown);
  return new ListingError(listingCodeOf(code), diagnosis, { cause });
};

/** An unexpected exception of a provisioner is an outage for the user; the log shows it as a bug. */
const asProvisionerError = (thrown: unknown): ProvisionerError =>
  thrown instanceof ProvisionerError
    ? thrown
    : new ProvisionerError("unavailable", `the provisioner broke: ${String(thrown)}`, { cause: thrown });
