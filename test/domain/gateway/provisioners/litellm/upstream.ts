// An inference gateway for its keys only, in this process: it stores keys, can fail, and can be interrupted in the middle of a
// call, like when the service dies. Its provisioner satisfies provisioner.ts.

import {
  type ListingCode,
  ListingError,
  toModelListing,
} from "../../../../../src/domain/gateway/provisioners/model-listing.ts";
import {
  type ProvisionedKey,
  type Provisioner,
  type ProvisionerCode,
  ProvisionerError,
  type ProvisionRequest,
  type RevokeRequest,
} from "../../../../../src/domain/gateway/provisioners/provisioner.ts";
import { HOUR_MS } from "../../../../../src/platform/clock.ts";
import { Secret } from "../../../../../src/platform/secret.ts";
import { runInTurns } from "../../../../../src/platform/steps.ts";

export interface UpstreamKey {
  externalId: string;
  userId: string;
  secret: string;
  blocked: boolean;
}

export class Upstream {
  readonly keys = new Map<string, UpstreamKey>();
  /** every call fails with this, until it is cleared */
  failure: ProvisionerCode | undefined;
  /** calls fail with this after their work is done, until it is cleared */
  lateFailure: ProvisionerCode | undefined;
  /** users without an account */
  readonly strangers = new Set<string>();
  /** users whose responses violate the database's rules, as a bug would */
  readonly unstorable = new Set<string>();
  /** responses are delayed until they are released */
  held: (() => void)[] | undefined;
  /** lifetime of new keys; null if they do not expire */
  lifeMs: number | null = null;
  /** as a provisioner writes them */
  models: unknown[] = [];
  sourceRevision: string | null = null;
  /** every list of models fails with this, until it is cleared */
  listingFailure: ListingCode | undefined;
  listings = 0;
  calls = 0;
  /** the requests, the latest last */
  readonly requests: ProvisionRequest[] = [];
  #made = 0;

  constructor(readonly nowMs: () => number) {}

  keysOf(userId: string): UpstreamKey[] {
    return [...this.keys.values()].filter((key) => key.userId === userId);
  }

  provisioner(): Provisioner {
    return {
      type: "builtin-litellm",
      provision: async (request) => {
        const response = this.#provision(request);
        await this.#pass();
        if (this.lateFailure) throw new ProvisionerError(this.lateFailure, "out of order in the end");
        return response;
      },
      revoke: async (request) => {
        this.#revoke(request);
        await this.#pass();
      },
      listModels: async () => {
        this.listings += 1;
        const listing = { models: this.models, source_revision: this.sourceRevision };
        await this.#pass();
        if (this.listingFailure) throw new ListingError(this.listingFailure, "out of order");
        return await runInTurns(toModelListing(listing));
      },
    };
  }

  /** Delays responses from now on: the gateway does the work, but no caller gets a response. */
  hold(): void {
    this.held = [];
  }

  letGo(): void {
    const held = this.held ?? [];
    this.held = undefined;
    for (const go of held) go();
  }

  #pass(): Promise<void> {
    const { held } = this;
    return held ? new Promise((resolve) => held.push(resolve)) : Promise.resolve();
  }

  #provision(request: ProvisionRequest): ProvisionedKey {
    const { identity, previous, reason } = request;
    this.requests.push(request);
    this.#admit(identity.id);
    const known = previous && this.keys.get(previous.externalId);
    if (previous && (!known || known.blocked))
      throw new ProvisionerError("credential_invalid", "unknown or blocked");
    const lifeMs = this.unstorable.has(identity.id) ? HOUR_MS + 0.5 : this.lifeMs;
    const expiresAtMs = lifeMs === null ? null : this.nowMs() + lifeMs;
    if (known || reason === "missing" || reason === "credential_invalidated") {
      for (const { externalId } of this.keysOf(identity.id))
        if (externalId !== known?.externalId) this.keys.delete(externalId);
    }
    if (known) return { externalId: known.externalId, alias: identity.email, metadata: null, expiresAtMs };
    this.#made += 1;
    const key = {
      externalId: `key-${this.#made}`,
      userId: identity.id,
      secret: `sk-${this.#made}`,
      blocked: false,
    };
    this.keys.set(key.externalId, key);
    const credential = new Secret(key.secret);
    return {
      credential,
      externalId: key.externalId,
      alias: identity.email,
      metadata: { n: this.#made },
      expiresAtMs,
    };
  }

  #revoke({ identity, externalId }: RevokeRequest): void {
    this.#admit(undefined);
    if (externalId !== null) this.keys.delete(externalId);
    else for (const key of this.keysOf(identity.id)) this.keys.delete(key.externalId);
  }

  #admit(userId: string | undefined): void {
    this.calls += 1;
    if (this.failure) throw new ProvisionerError(this.failure, "out of order");
    if (userId !== undefined && this.strangers.has(userId))
      throw new ProvisionerError("account_missing", "no account");
  }
}
