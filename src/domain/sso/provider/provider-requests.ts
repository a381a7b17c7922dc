// Requests to the identity provider through platform/outbound: bounded in time and size, without redirects, each counted.
// discovery.ts finds the endpoints.

import type { Clock } from "../../../platform/clock.ts";
import { SECOND_MS } from "../../../platform/clock.ts";
import { codeOf, DomainError } from "../../../platform/errors.ts";
import { isJsonObject, type JsonObject } from "../../../platform/json/json-object.ts";
import { discardBody } from "../../../platform/outbound/discard-body.ts";
import type { Destination, Outbound, OutboundRequest } from "../../../platform/outbound/outbound.ts";
import { forLog, type ProviderFault, providerInvalid, unreachable } from "./failures.ts";

/** Short enough to show the error page within 10 seconds. */
const RESPONSE_TIMEOUT_MS = 9.5 * SECOND_MS;
export const RESPONSE_BYTES_MAX = 256 * 1024;

export const PROVIDER_ENDPOINTS = ["discovery", "keys", "token", "userinfo", "pushed_request"] as const;
export type ProviderEndpoint = (typeof PROVIDER_ENDPOINTS)[number];

/** `refused`: an error with a status below 500; `invalid`: a redirect, or too many bytes */
export const REQUEST_OUTCOMES = ["answered", "refused", "invalid", "unreachable"] as const;
type RequestOutcome = (typeof REQUEST_OUTCOMES)[number];

/** One request to the provider, for metrics. */
export interface ProviderRequest {
  endpoint: ProviderEndpoint;
  outcome: RequestOutcome;
  durationMs: number;
}

export interface RequestDependencies {
  clock: Clock;
  outbound: Pick<Outbound, "fetch">;
  observeSso?: { requested(request: ProviderRequest): void } | undefined;
  /** default: RESPONSE_TIMEOUT_MS */
  responseTimeoutMs?: number | undefined;
}

/** A response with its body in memory. */
interface ReadResponse extends Pick<Response, "status" | "headers"> {
  isOk: boolean;
  bytes: Uint8Array<ArrayBuffer>;
}

interface ObjectResponse {
  isOk: boolean;
  status: number;
  members: JsonObject;
  text: string;
}

type Message = Pick<OutboundRequest, "method" | "headers" | "body">;

export class ProviderRequests {
  #clockOffsetMs: number | undefined;

  constructor(
    private readonly dependencies: RequestDependencies,
    private readonly peer: {
      /** certificates trusted in addition to the built-in ones, in PEM */
      ca: string | undefined;
      /** the origins that the provider has, by name */
      destinations(): readonly Destination[];
    },
  ) {}

  /** How far the provider's clock is ahead of ours, by the header `Date`; undefined before the first response that has one. */
  get clockOffsetMs(): number | undefined {
    return this.#clockOffsetMs;
  }

  /**
   * Sends a request for the library, which reads the response itself.
   * @returns the response with its whole body, whatever its status; 200 for 204 and 205, which cannot have a body
   * @throws DomainError `sso.provider_unreachable` (also for a status of 500 and above, and 429), `sso.provider_invalid`
   */
  async send(endpoint: ProviderEndpoint, url: string, message: Message = {}): Promise<Response> {
    const { status, headers, bytes } = await this.#counted(endpoint, url, message);
    return new Response(bytes, { status: status === 204 || status === 205 ? 200 : status, headers });
  }

  /**
   * @returns the JSON object in the response; empty if the request failed and the response is not a JSON object
   * @throws like `send`; `sso.provider_invalid` if the request succeeded and the response is not a JSON object
   */
  async object(endpoint: ProviderEndpoint, url: string, message: Message): Promise<ObjectResponse> {
    const { isOk, status, headers, bytes } = await this.#counted(endpoint, url, message);
    const text = utf8.decode(bytes);
    const members = parsed(text);
    if (isJsonObject(members)) return { isOk, status, members, text };
    if (!isOk) return { isOk, status, members: {}, text };
    const type = forLog(headers.get("content-type") ?? "none");
    throw providerInvalid(
      `${endpoint}: the response is not a JSON object (content type ${type})`,
      "not_json",
    );
  }

  /** @returns the JSON object and its text @throws like `object`; `sso.provider_invalid` if the request failed */
  async json(endpoint: ProviderEndpoint, url: string): Promise<ObjectResponse> {
    const response = await this.object(endpoint, url, { headers: { accept: "application/json" } });
    if (!response.isOk) throw providerInvalid(`${endpoint}: the status is ${response.status}`, "status");
    return response;
  }

  async #counted(endpoint: ProviderEndpoint, url: string, message: Message): Promise<ReadResponse> {
    const startMs = performance.now();
    let outcome: RequestOutcome = "unreachable";
    try {
      const response = await this.#response(url, message);
      outcome = response.isOk ? "answered" : "refused";
      return response;
    } catch (error) {
      if (error instanceof DomainError && error.reason === "sso.provider_invalid") outcome = "invalid";
      throw error;
    } finally {
      this.dependencies.observeSso?.requested({ endpoint, outcome, durationMs: performance.now() - startMs });
    }
  }

  async #response(url: string, message: Message): Promise<ReadResponse> {
    const { origin, hostname } = new URL(url);
    const destination = this.peer.destinations().find((known) => known.origin === origin);
    if (!destination) throw providerInvalid(`${forLog(hostname)} is not a host of the provider`);
    const { outbound, responseTimeoutMs: timeoutMs = RESPONSE_TIMEOUT_MS } = this.dependencies;
    const request = { ...message, timeoutMs, tls: { ca: this.peer.ca } };
    const response = await outbound.fetch(destination.name, url, request).catch((error: unknown) => {
      throw faultOfFetch(error);
    });
    this.#noteClock(response);
    const { ok: isOk, status, headers } = response;
    if (status >= 500 || status === 429) {
      await discardBody(response);
      throw unreachable(`the status is ${status}`, "busy");
    }
    return { isOk, status, headers, bytes: await bodyOf(response) };
  }

  #noteClock({ headers }: Response): void {
    const atMs = Date.parse(headers.get("date") ?? "");
    if (Number.isFinite(atMs)) this.#clockOffsetMs = atMs - this.dependencies.clock.nowMs();
  }
}

const utf8 = new TextDecoder();

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the caller reports what is wrong
  }
}

/**
 * A failed connection means that the provider is unreachable. A refusal of platform/outbound means that the provider named a
 * bad address.
 */
function faultOfFetch(error: unknown): DomainError {
  if (!(error instanceof DomainError)) return unreachable(errorText(error));
  const { reason, message, cause } = error;
  if (reason === "outbound.failed") return unreachable(errorText(cause), certificateFaultOf(cause));
  return providerInvalid(message, reason === "outbound.redirected" ? "redirect" : undefined);
}

/** TLS error codes about certificates; other such codes mean that no known authority signed the certificate. */
const CERTIFICATE_FAULTS = new Map<string, ProviderFault>([
  ["ERR_TLS_CERT_ALTNAME_INVALID", "certificate_name"],
  ["CERT_HAS_EXPIRED", "certificate_time"],
  ["CERT_NOT_YET_VALID", "certificate_time"],
]);

function certificateFaultOf(error: unknown): ProviderFault | undefined {
  const code = codeOf(error) ?? "";
  return CERTIFICATE_FAULTS.get(code) ?? (/CERT|SIGNATURE/.test(code) ? "certificate" : undefined);
}

/** Code and name only, because the text of a network error may contain addresses. */
const errorText = (error: unknown): string => {
  if (!(error instanceof Error)) return "the connection failed";
  return `the connection failed (${forLog(codeOf(error) ?? error.name)})`;
};

async function bodyOf(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return isShort(response) ? await response.bytes() : await readUpToLimit(response);
  } catch (error) {
    throw error instanceof DomainError ? error : unreachable(errorText(error));
  }
}

/**
 * @returns whether the length is announced and within the limit; then no stream is needed, which would take a tenth of the time of
 * a request. A content coding can make the body longer, and chunks override the length (RFC 9112 section 6.3)
 */
function isShort({ headers }: Response): boolean {
  const length = headers.get("content-length");
  const isAsAnnounced = !headers.has("content-encoding") && !headers.has("transfer-encoding");
  return length !== null && Number(length) <= RESPONSE_BYTES_MAX && isAsAnnounced;
}

/** Uses a reader, because iterating over the body takes one more promise per chunk. */
async function readUpToLimit(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const reader = response.body?.getReader();
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for (let read = await reader?.read(); read?.value; read = await reader?.read()) {
    sizeBytes += read.value.length;
    if (sizeBytes > RESPONSE_BYTES_MAX) {
      await reader?.cancel().catch(() => {}); // the connection may be broken
      throw tooLarge();
    }
    chunks.push(read.value);
  }
  return Buffer.concat(chunks);
}

const tooLarge = () => providerInvalid(`the response has more than ${RESPONSE_BYTES_MAX} bytes`, "too_large");
