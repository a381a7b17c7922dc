// Refusals in the form of the called API: agents show `error.message`, and use the status and `error.type` to decide on
// retries. Texts are fixed sentences that say what to do; they contain no data of the upstream, no tokens and no
// addresses.
import type { Dialect } from "./paths.ts";

/** The meaning of each status in the two forms. */
interface Kind {
  readonly openai: readonly [type: string, code: string];
  readonly anthropic: string;
}

const KINDS: Readonly<Record<number, Kind>> = {
  400: { openai: ["invalid_request_error", "invalid_request"], anthropic: "invalid_request_error" },
  401: { openai: ["invalid_request_error", "invalid_api_key"], anthropic: "authentication_error" },
  403: { openai: ["invalid_request_error", "permission_denied"], anthropic: "permission_error" },
  404: { openai: ["invalid_request_error", "not_found"], anthropic: "not_found_error" },
  405: { openai: ["invalid_request_error", "method_not_allowed"], anthropic: "invalid_request_error" },
  408: { openai: ["invalid_request_error", "request_timeout"], anthropic: "invalid_request_error" },
  413: { openai: ["invalid_request_error", "request_too_large"], anthropic: "request_too_large" },
  426: { openai: ["invalid_request_error", "upgrade_not_supported"], anthropic: "invalid_request_error" },
  429: { openai: ["rate_limit_error", "rate_limit_exceeded"], anthropic: "rate_limit_error" },
  500: { openai: ["server_error", "internal_error"], anthropic: "api_error" },
  502: { openai: ["server_error", "upstream_failed"], anthropic: "api_error" },
  503: { openai: ["server_error", "overloaded"], anthropic: "overloaded_error" },
  504: { openai: ["server_error", "upstream_timeout"], anthropic: "api_error" },
};

interface Text {
  readonly status: keyof typeof KINDS;
  readonly message: string;
  /** replaces the code of the status in the OpenAI form */
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const CLOSE = { connection: "close" };
const BEARER = { "www-authenticate": "Bearer" };
const ASK_AGAIN = "sign in again with the workstation client, then repeat the request";
const KEY_COMMAND =
  "run the gateway command of the workstation client, which says why and asks for a new one";

/** Every refusal, by reason. */
const TEXTS = {
  "inference.bad_host": {
    status: 400,
    message: "The Host header must name one host, with or without a port.",
    headers: CLOSE,
  },
  "inference.no_such_path": { status: 404, message: "The inference proxy does not forward this path." },
  "inference.wrong_method": { status: 405, message: "Use a method that the Allow header lists." },
  "inference.no_upgrade": {
    status: 426,
    message: "WebSockets are not supported here; send the request over HTTP.",
    headers: { upgrade: "HTTP/1.1", connection: "close" },
  },
  "service.starting": {
    status: 503,
    message: "The service is starting; repeat the request in a moment.",
    headers: { ...CLOSE, "retry-after": "1" },
  },
  "service.stopping": {
    status: 503,
    message: "The service is restarting; repeat the request in a few seconds.",
    headers: { ...CLOSE, "retry-after": "5" },
  },
  "inference.busy": {
    status: 503,
    message: "Too many requests are in progress; repeat the request.",
    headers: { "retry-after": "1" },
  },
  "inference.no_token": {
    status: 401,
    message: "Send the inference token as a bearer token, or in x-api-key.",
    headers: BEARER,
  },
  "inference.bad_token": {
    status: 401,
    message: `The inference token is not valid, or has expired; ${ASK_AGAIN}.`,
    headers: BEARER,
  },
  "inference.too_many": { status: 429, message: "Too many requests; wait before the next one." },
  "inference.session_revoked": {
    status: 401,
    message: `The inference token is no longer valid; ${ASK_AGAIN}.`,
    headers: BEARER,
  },
  "inference.login_ended": {
    status: 401,
    message: `The sign-in of this workstation has ended; ${ASK_AGAIN}.`,
    headers: BEARER,
  },
  "inference.user_inactive": {
    status: 401,
    message: "Access to inference has ended; ask your administrator.",
    headers: BEARER,
  },
  "inference.key_recovering": {
    status: 503,
    message: "Your gateway key is being replaced; repeat the request.",
    headers: { "retry-after": "2" },
  },
  "inference.key_missing": { status: 403, message: `You have no usable gateway key; ${KEY_COMMAND}.` },
  "inference.too_large": {
    status: 413,
    message: "The request body is larger than the inference proxy allows; shorten the conversation.",
    headers: CLOSE,
  },
  "inference.tiny_chunks": {
    status: 400,
    message: "The request body has too many small chunks; send it in larger ones, or with Content-Length.",
    headers: CLOSE,
  },
  "inference.slow_body": {
    status: 408,
    message: "The request body did not arrive in time; repeat the request.",
    headers: CLOSE,
  },
  "inference.user_parallel": {
    status: 429,
    message: "You have too many requests in progress; wait until one of them ends.",
    headers: { "retry-after": "1" },
  },
  "inference.budget": {
    status: 429,
    message: "Your daily budget for inference is used up; it is renewed at midnight UTC.",
    code: "insufficient_quota",
  },
  "inference.model_unreadable": {
    status: 400,
    message: "Name one model, early in a JSON body, and none in the query or as a fallback.",
  },
  "inference.model_not_allowed": {
    status: 403,
    message: "Your organization does not allow this model; choose one that your agent lists.",
  },
  "inference.upstream_unreachable": {
    status: 502,
    message: "upstream request failed: the model gateway cannot be reached; repeat the request later.",
  },
  "inference.upstream_reset": {
    status: 502,
    message: "upstream request failed: the model gateway closed the connection; repeat the request.",
  },
  "inference.upstream_redirect": {
    status: 502,
    message: "upstream request failed: the model gateway answered with a redirect; tell your administrator.",
  },
  "inference.upstream_bad_head": {
    status: 502,
    message:
      "upstream request failed: the response of the model gateway is not valid; tell your administrator.",
  },
  "inference.upstream_timeout": {
    status: 504,
    message: "upstream request failed: the model gateway did not answer in time; repeat the request.",
  },
  "inference.failed": {
    status: 500,
    message: "The inference proxy failed; tell your administrator the request id.",
  },
} as const satisfies Record<string, Text>;

export type RefusalReason = keyof typeof TEXTS;

const isReason = (text: string): text is RefusalReason => Object.hasOwn(TEXTS, text);

/** Every reason, for metrics and tests. */
export const REFUSAL_REASONS: readonly RefusalReason[] = Object.keys(TEXTS).filter(isReason);

export interface RefusalExtras {
  /** replaces `Retry-After` */
  retryAfterSeconds?: number;
  /** for `inference.wrong_method` */
  allow?: string;
}

/** @returns the status for the reason */
export const statusOf = (reason: RefusalReason): number => TEXTS[reason].status;

/** @returns the response in the form of the API */
export function refusal(
  reason: RefusalReason,
  dialect: Dialect,
  requestId: string,
  { retryAfterSeconds, allow }: RefusalExtras = {},
): Response {
  const { status, headers }: Text = TEXTS[reason];
  const body = { ...refusalBody(reason, dialect), reason, request_id: requestId };
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-quartermaster-request-id": requestId,
      ...headers,
      ...(retryAfterSeconds !== undefined && { "retry-after": String(retryAfterSeconds) }),
      ...(allow !== undefined && { allow }),
    },
  });
}

/** @returns the error object of the API, which is also the body of the last event of a stream */
export function refusalBody(reason: RefusalReason, dialect: Dialect): Record<string, unknown> {
  const { status, message, code }: Text = TEXTS[reason];
  const kind = KINDS[status];
  if (dialect === "messages") return { type: "error", error: { type: kind?.anthropic, message } };
  const [type, statusCode] = kind?.openai ?? [];
  return { error: { message, type: code ?? type, param: null, code: code ?? statusCode } };
}
