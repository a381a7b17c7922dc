// Finds the provider's endpoints and caches them: in memory for an hour, and in the database for a day, during which sign-ins work
// even if discovery fails. Sends one request at a time, and none for ten seconds after a failure.
import { type Clock, HOUR_MS, SECOND_MS } from "../../../../platform/clock.ts";
import { DomainError } from "../../../../platform/errors.ts";
import { type Remembered, throwRemembered } from "../failures.ts";
import type { ProviderRequests } from "../provider-requests.ts";
import { discoveryUrl, type ProviderMetadata, readMetadata } from "./metadata.ts";

/** After this time the document is fetched again, and the old one is used until then. */
export const METADATA_FRESH_MS = HOUR_MS;
/** After failed sign-ins, the document is fetched again after this time, because the provider may have moved an endpoint. */
export const METADATA_DOUBTED_MS = 10 * SECOND_MS;
/** After this time the document is no longer used. */
const METADATA_KEPT_MS = 24 * HOUR_MS;

/** A discovery document as received. */
export interface StoredMetadata {
  text: string;
  atMs: number;
}

export interface MetadataStore {
  /** @returns undefined if nothing is stored */
  load(): StoredMetadata | undefined;
  save(stored: StoredMetadata): Promise<void>;
}

interface Known {
  metadata: ProviderMetadata;
  atMs: number;
}

interface DiscoveryParts {
  issuer: string;
  clock: Clock;
  requests: ProviderRequests;
  store: MetadataStore;
}

export class Discovery {
  #known: Known | undefined;
  #failed: Remembered | undefined;
  #loading: Promise<ProviderMetadata> | undefined;

  constructor(private readonly parts: DiscoveryParts) {
    this.#known = this.#stored();
  }

  /** @returns the last known document of any age; undefined before the first */
  peek(): ProviderMetadata | undefined {
    return this.#known?.metadata;
  }

  /** @throws DomainError `sso.provider_unreachable`, `sso.provider_invalid` */
  async get(): Promise<ProviderMetadata> {
    const { clock } = this.parts;
    const ageMs = this.#known ? clock.nowMs() - this.#known.atMs : Number.POSITIVE_INFINITY;
    if (!this.#known || ageMs > METADATA_KEPT_MS) return await this.#refresh();
    // The failure is already recorded and counted, and the known document is still valid.
    if (ageMs > METADATA_FRESH_MS) this.#refresh().catch(() => {});
    return this.#known.metadata;
  }

  /** Call it after a sign-in failed: fetches the document again, and uses the old one until then. */
  doubt(): void {
    const ageMs = this.#known ? this.parts.clock.nowMs() - this.#known.atMs : 0;
    if (ageMs > METADATA_DOUBTED_MS) this.#refresh().catch(() => {});
  }

  /** Fetches the document now, even if one is cached. @throws like `get` */
  async reload(): Promise<ProviderMetadata> {
    this.#failed = undefined;
    return await this.#refresh();
  }

  async #refresh(): Promise<ProviderMetadata> {
    throwRemembered(this.#failed, this.parts.clock);
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return await this.#loading;
  }

  async #load(): Promise<ProviderMetadata> {
    const { issuer, clock, requests, store } = this.parts;
    try {
      const { members, text } = await requests.json("discovery", discoveryUrl(issuer));
      const metadata = readMetadata(members, issuer);
      this.#known = { metadata, atMs: clock.nowMs() };
      await store.save({ text, atMs: clock.nowMs() });
      return metadata;
    } catch (error) {
      if (error instanceof DomainError) this.#noteFailure(error);
      throw error;
    }
  }

  /** A provider that responds wrongly may have been replaced, so the known document is no longer used. */
  #noteFailure(error: DomainError): void {
    this.#failed = { error, atMs: this.parts.clock.nowMs() };
    if (error.reason === "sso.provider_invalid") this.#known = undefined;
  }

  #stored(): Known | undefined {
    const { issuer, store } = this.parts;
    const stored = store.load();
    const metadata = stored && parseStored(stored, issuer);
    return stored && metadata && { metadata, atMs: stored.atMs };
  }
}

/** @returns undefined if a stricter version of this program does not accept it */
export function parseStored({ text }: StoredMetadata, issuer: string): ProviderMetadata | undefined {
  try {
    return readMetadata(JSON.parse(text), issuer);
  } catch {
    return undefined; // it is fetched again
  }
}
