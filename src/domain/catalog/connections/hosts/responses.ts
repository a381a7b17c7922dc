// Maps responses of repository hosts, and failed requests, to errors. No error repeats the text of a response.
import { DomainError } from "../../../../platform/errors.ts";
import { discardBody } from "../../../../platform/outbound/discard-body.ts";
import { proxyFault, rateLimited, sourceFault } from "../errors.ts";

/** Limit for a response that is not an archive. */
export const RESPONSE_BYTES_MAX = 1024 ** 2;

const CERTIFICATE_FAULT = /CERT|VERIFY|SIGNATURE|TLS/;
/** The runtime's error code if a proxy answers CONNECT with a status other than 2xx. */
const PROXY_REFUSAL = "ERR_PROXY_TUNNEL";
const statusIn = (cause: unknown): number =>
  cause instanceof Error && "status" in cause ? Number(cause.status) : 0;
const codeIn = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : "";

/** @returns the error for a request without a complete response; more specific errors are returned unchanged */
export function networkFault(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return sourceFault("too_slow");
  if (!(error instanceof DomainError)) return sourceFault("host_down", error);
  if (error.reason !== "outbound.failed") return error;
  const code = codeIn(error.cause);
  if (code === PROXY_REFUSAL) return proxyFault(statusIn(error.cause));
  return sourceFault(CERTIFICATE_FAULT.test(code) ? "tls_untrusted" : "host_down", error.cause);
}

export const isRedirect = (status: number): boolean => status >= 300 && status < 400;

/** 409 is an empty repository, 422 a name that is not a commit (GitHub). */
export const isMissing = (status: number): boolean => status === 404 || status === 409 || status === 422;

/**
 * A redirect within the API's origin means that the repository was renamed. A redirect elsewhere means that the connection's
 * URL is wrong.
 * @throws DomainError `source.renamed`, `source.bad_answer`
 */
export async function refuseRedirect(response: Response, apiBase: string): Promise<void> {
  const { status, headers } = response;
  if (!isRedirect(status)) return;
  await discardBody(response);
  const url = URL.parse(headers.get("location") ?? "", apiBase);
  throw sourceFault(url?.origin === new URL(apiBase).origin ? "renamed" : "bad_answer");
}

/** @throws DomainError `source.*` unless the status is the expected one */
export async function requireStatus(response: Response, expected = 200): Promise<void> {
  const { status, headers } = response;
  if (status === expected) return;
  await discardBody(response);
  if (status === 429 || (status === 403 && isLimited(headers))) throw rateLimited(waitIn(headers));
  if (status === 401 || status === 403) throw sourceFault("credential_refused");
  throw sourceFault(status >= 500 ? "host_down" : "bad_answer");
}

const isLimited = (headers: Headers): boolean =>
  headers.has("retry-after") || headers.get("x-ratelimit-remaining") === "0";

/**
 * Reads `Retry-After`, a number or a time (RFC 9110 section 10.2.3), else the time at which a limit ends (GitHub
 * `X-RateLimit-Reset`, GitLab `RateLimit-Reset`). Times are compared with the `Date` of the response, because clocks differ.
 * @returns seconds; undefined if the host does not say
 */
function waitIn(headers: Headers): number | undefined {
  const after = headers.get("retry-after") ?? "";
  if (/^\d+$/.test(after)) return Number(after);
  const reset = headers.get("x-ratelimit-reset") ?? headers.get("ratelimit-reset") ?? "";
  const endsMs = /^\d+$/.test(reset) ? Number(reset) * 1_000 : Date.parse(after);
  const seconds = (endsMs - Date.parse(headers.get("date") ?? "")) / 1_000;
  return Number.isFinite(seconds) ? seconds : undefined;
}

/** @throws DomainError `source.bad_answer` for more than RESPONSE_BYTES_MAX */
export async function bodyText({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.byteLength;
    if (bytes > RESPONSE_BYTES_MAX) throw sourceFault("bad_answer");
    parts.push(piece);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** @throws DomainError `source.bad_answer` in place of the parser's error, whose message would repeat the text */
export function parsedResponse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw sourceFault("bad_answer");
  }
}
