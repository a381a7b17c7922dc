// A bucket of an S3-compatible object store: signed URLs for clients, and the operations that the service itself needs. There
// is no multipart upload, because a session has at most 128 MiB, and a day of the request log rarely has more. The domain
// decides which objects exist and what their keys mean.

import { invariant } from "../errors.ts";
import { discardBody } from "../outbound/discard-body.ts";
import { failureIn, invalid, refused, StoreFailure } from "./failures.ts";
import { type ListedPage, parseListing } from "./listing.ts";
import { bytesOf, type RequestDependencies, StoreRequests, textOf, transferMs } from "./requests.ts";
import { type Credentials, encodePath, signUrl } from "./signature.ts";

/** Lifetime of the URLs that the service uses itself, which is also the tolerated clock difference. */
const OWN_LIFETIME_SECONDS = 300;
export const LIST_KEYS_MAX = 1_000;
/** Amazon S3: maximum length of a key */
export const KEY_BYTES_MAX = 1_024;

export interface Place {
  /** origin for the service's own requests */
  endpoint: string;
  /** origin of the URLs for clients */
  publicEndpoint: string;
  region: string;
  bucket: string;
  /** `/<bucket>/<key>` instead of `<bucket>.<host>/<key>` */
  pathStyle: boolean;
  /** value of x-amz-server-side-encryption; undefined: the bucket's default */
  sse?: string | undefined;
}

export interface BucketOptions extends RequestDependencies {
  place: Place;
  /** called for each signature, so replaced credentials apply immediately */
  credentials: () => Credentials;
}

export interface Upload {
  key: string;
  /** SHA-256 as 64 lower-case hexadecimal digits; the store refuses bytes with another digest */
  sha256: string;
  sizeBytes: number;
  contentType: string;
}

export interface Download {
  key: string;
  /** headers of the response, overriding those of the stored object */
  contentType: string;
  contentDisposition: string;
}

export interface StoredObject {
  sizeBytes: number;
  /** SHA-256 computed by the store, 64 lower-case hexadecimal digits; undefined if it has no digest of the whole object */
  sha256: string | undefined;
}

export class Bucket {
  readonly #options: BucketOptions;
  readonly #requests: StoreRequests;

  constructor(options: BucketOptions) {
    this.#options = options;
    this.#requests = new StoreRequests(options);
  }

  /** How far the store's clock is ahead of ours; undefined before its first response. */
  get clockOffsetMs(): number | undefined {
    return this.#requests.clockOffsetMs;
  }

  /** @returns the URL for a PUT of exactly these bytes, and its required headers */
  presignPut(upload: Upload, lifetimeSeconds: number): { url: string; headers: Record<string, string> } {
    const headers = this.#uploadHeaders(upload);
    const signed = { ...headers, "content-length": String(upload.sizeBytes) };
    const { publicEndpoint } = this.#options.place;
    const url = this.#sign(
      { method: "PUT", key: upload.key, headers: signed },
      publicEndpoint,
      lifetimeSeconds,
    );
    return { url, headers };
  }

  /** @returns the URL for a GET of one object */
  presignGet({ key, contentType, contentDisposition }: Download, lifetimeSeconds: number): string {
    const query = {
      "response-content-disposition": contentDisposition,
      "response-content-type": contentType,
    };
    return this.#sign({ method: "GET", key, query }, this.#options.place.publicEndpoint, lifetimeSeconds);
  }

  /** @returns the unsigned URL of an object */
  plainUrl(key: string, endpoint = this.#options.place.endpoint): string {
    return objectUrl(this.#options.place, endpoint, key).href;
  }

  /**
   * @returns undefined if there is no such object
   * @throws DomainError `object_store.*`, like every operation below
   */
  async head(key: string): Promise<StoredObject | undefined> {
    const headers = { "x-amz-checksum-mode": "ENABLED" };
    const response = await this.#requests.send("head", this.#own({ method: "HEAD", key, headers }));
    if (!response) return undefined;
    await requireObject(response);
    const length = response.headers.get("content-length") ?? "";
    if (!/^\d{1,15}$/.test(length)) throw invalid("the response to HEAD has no length");
    return { sizeBytes: Number(length), sha256: digestIn(response.headers.get("x-amz-checksum-sha256")) };
  }

  /**
   * @param limits `transferMs` gives the time; pass the size of an object that may exceed 128 MiB
   * @returns the bytes as they arrive; undefined if there is no such object
   */
  async read(
    key: string,
    { signal, sizeBytes = 0 }: { signal?: AbortSignal | undefined; sizeBytes?: number } = {},
  ): Promise<AsyncGenerator<Uint8Array> | undefined> {
    const limits = { transferTimeoutMs: transferMs(sizeBytes), signal };
    const response = await this.#requests.send("get", { ...this.#own({ method: "GET", key }), ...limits });
    if (!response) return undefined;
    await requireObject(response);
    return bytesOf(response);
  }

  /**
   * Stores these bytes, which must have exactly the announced length.
   * @throws also the error of `pieces`
   */
  async put(
    upload: Upload,
    body: Uint8Array<ArrayBuffer> | AsyncIterable<Uint8Array>,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<void> {
    const headers = { ...this.#uploadHeaders(upload), "content-length": String(upload.sizeBytes) };
    const message = this.#own({ method: "PUT", key: upload.key, headers });
    const limits = { transferTimeoutMs: transferMs(upload.sizeBytes), signal };
    await this.#drained(await this.#requests.send("put", { ...message, ...limits, body }));
  }

  /**
   * Reads a small object.
   * @returns its text and its ETag, which `putIf` compares; undefined if there is no such object
   */
  async readText(
    key: string,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<{ text: string; etag: string } | undefined> {
    const response = await this.#requests.send("get", { ...this.#own({ method: "GET", key }), signal });
    return response && { text: await textOf(response), etag: etagIn(response) };
  }

  /**
   * Stores a small text if the object is as expected.
   * @param expected the ETag that the object must have; undefined if there must be none
   * @returns the new ETag; undefined if the object is not as expected
   */
  async putIf(
    { key, text, expected }: { key: string; text: string; expected: string | undefined },
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<string | undefined> {
    const condition: Record<string, string> =
      expected === undefined ? { "if-none-match": "*" } : { "if-match": expected };
    const body = new TextEncoder().encode(text);
    const headers = {
      ...condition,
      "content-type": "application/json",
      "content-length": String(body.length),
    };
    try {
      const message = this.#own({ method: "PUT", key, headers });
      const response = await this.#requests.send("put", { ...message, body, signal });
      await discardBody(response);
      // The store answers If-Match with 404 if there is no such object.
      return response && etagIn(response);
    } catch (error) {
      if (isOtherObject(error)) return undefined;
      throw error;
    }
  }

  /** @returns false if the store reports that there was no such object; most do not report it */
  async remove(key: string): Promise<boolean> {
    const response = await this.#requests.send("delete", this.#own({ method: "DELETE", key }));
    await discardBody(response);
    return response !== undefined;
  }

  /**
   * @param range keys that begin with `prefix` and come after `after`; at most LIST_KEYS_MAX
   * @returns one page in the order of keys
   */
  async list(range: { prefix: string; after?: string; max?: number }): Promise<ListedPage> {
    const { prefix, after = "", max = LIST_KEYS_MAX } = range;
    invariant(max >= 1 && max <= LIST_KEYS_MAX, "a page of keys has a bounded length");
    const query = {
      "list-type": "2",
      "encoding-type": "url",
      "max-keys": String(max),
      prefix,
      ...(after !== "" && { "start-after": after }),
    };
    const response = await this.#requests.send("list", this.#own({ method: "GET", key: "", query }));
    if (!response) throw noBucket();
    const page = parseListing(await textOf(response));
    const isOutside = ({ key }: { key: string }) => !key.startsWith(prefix) || key === after;
    if (page.objects.length > max || page.objects.some(isOutside))
      throw invalid("the list has keys that were not requested");
    return page;
  }

  /** Succeeds if the bucket exists and these credentials may use it. */
  async check(): Promise<void> {
    const response = await this.#requests.send("head_bucket", this.#own({ method: "HEAD", key: "" }));
    if (!response) throw noBucket();
  }

  async #drained(response: Response | undefined): Promise<void> {
    if (!response) throw noBucket();
    await discardBody(response);
  }

  #uploadHeaders({ sha256, contentType }: Upload): Record<string, string> {
    const { sse } = this.#options.place;
    return {
      "content-type": contentType,
      "x-amz-checksum-sha256": Buffer.from(sha256, "hex").toString("base64"),
      ...(sse !== undefined && { "x-amz-server-side-encryption": sse }),
    };
  }

  #own(request: SignedRequest) {
    const { endpoint } = this.#options.place;
    const { method, headers } = request;
    return {
      method,
      url: () => this.#sign(request, endpoint, OWN_LIFETIME_SECONDS),
      ...(headers && { headers: { ...headers } }),
    };
  }

  #sign({ method, key, query, headers }: SignedRequest, endpoint: string, lifetimeSeconds: number): string {
    const { place, credentials, clock } = this.#options;
    invariant(Buffer.byteLength(key) <= KEY_BYTES_MAX, "a key has a bounded length");
    const url = objectUrl(place, endpoint, key);
    return signUrl(
      { method, url, ...(query && { query }), ...(headers && { headers }) },
      { credentials: credentials(), region: place.region, atMs: clock.nowMs(), lifetimeSeconds },
    );
  }
}

/** 412 PreconditionFailed, and 409 ConditionalRequestConflict while another request changes the object. */
const isOtherObject = (error: unknown): boolean => [409, 412].includes(failureIn(error)?.status ?? 0);

/** Every object has an ETag. A server that answers any request with 200 does not say that an object is empty. */
async function requireObject(response: Response): Promise<void> {
  if (response.headers.has("etag")) return;
  await discardBody(response);
  throw noEtag();
}

const noEtag = () => invalid("the response has no ETag");

function etagIn({ headers }: Response): string {
  const etag = headers.get("etag");
  if (!etag) throw noEtag();
  return etag;
}

interface SignedRequest {
  method: "GET" | "HEAD" | "PUT" | "DELETE";
  /** empty: the bucket itself */
  key: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
}

/** @returns the origin for requests to the bucket */
export function bucketOrigin(endpoint: string, { bucket, pathStyle }: Pick<Place, "bucket" | "pathStyle">) {
  if (pathStyle) return endpoint;
  const url = new URL(endpoint);
  return `${url.protocol}//${bucket}.${url.host}`;
}

function objectUrl(place: Place, endpoint: string, key: string): URL {
  const parts = [...(place.pathStyle ? [place.bucket] : []), ...(key === "" ? [] : [key])];
  return new URL(`${bucketOrigin(endpoint, place)}/${encodePath(parts.join("/"))}`);
}

/** A multipart checksum ends with a dash and the number of parts; it does not cover the whole object. */
function digestIn(base64: string | null): string | undefined {
  const bytes = Buffer.from(base64 ?? "", "base64");
  return bytes.length === 32 && !base64?.includes("-") ? bytes.toString("hex") : undefined;
}

const noBucket = () => refused(new StoreFailure("status 404 NoSuchBucket", 404, "NoSuchBucket"));
