// Turns every failure into one RFC 9457 problem+json response. This is the only place that maps failure kinds to HTTP status
// codes.
import { DomainError, type ErrorKind, type Problem, type SpentBudget } from "../../../platform/errors.ts";
import { excerpt } from "../../../platform/text/problem-list.ts";

/** Limit on characters of an error message. */
export const MESSAGE_CHARACTERS_MAX = 2_000;
/** Size limit of a problem answer in bytes. */
export const PROBLEM_BYTES_MAX = 64 * 1024;
/** Bytes reserved for the name of the list and the line that counts omitted problems. */
const CLOSING_BYTES = 100;

const STATUS_OF_KIND: Record<ErrorKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  gone: 410,
  unverified: 422,
  too_many: 429,
  upstream: 502,
  unavailable: 503,
};

const TITLES: Record<number, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  411: "Length Required",
  412: "Precondition Failed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  426: "Upgrade Required",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  507: "Insufficient Storage",
};

/** Extension members for programs (RFC 9457 section 3.2). */
type ProblemMembers = Readonly<Record<string, string | number | readonly string[]>>;

interface HttpErrorDetails {
  problems?: readonly Problem[];
  headers?: Readonly<Record<string, string>>;
  members?: ProblemMembers;
}

/** A refusal at the HTTP level; services never see methods, media types or body sizes. */
export class HttpError extends Error {
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
    readonly details: HttpErrorDetails = {},
  ) {
    super(message);
    this.name = "HttpError";
  }
}

/** The content of an error response, independent of its media type. */
export interface Failure {
  status: number;
  reason: string;
  message: string;
  problems: readonly Problem[];
  headers: Readonly<Record<string, string>>;
  members?: ProblemMembers | undefined;
}

/** @returns the failure that the caller may see; undefined for a bug */
export function failureOf(error: unknown): Failure | undefined {
  const failure = wholeFailureOf(error);
  return failure && { ...failure, message: excerpt(failure.message, MESSAGE_CHARACTERS_MAX) };
}

/** Replaces the hints of `storage.*` errors, which name commands that only an operator can run. */
const MACHINE_HINT = "an operator of this service finds the cause with `quartermaster doctor`";

function wholeFailureOf(error: unknown): Failure | undefined {
  if (error instanceof HttpError) {
    const { status, reason, message, details } = error;
    const { problems = [], headers = {}, members } = details;
    return { status, reason, message, problems, headers, members };
  }
  if (!(error instanceof DomainError)) return undefined;
  const status = error.reason === "storage.full" ? 507 : STATUS_OF_KIND[error.kind];
  const hint = error.hint && error.reason.startsWith("storage.") ? MACHINE_HINT : error.hint;
  const message = hint ? `${error.message}; ${hint}` : error.message;
  return {
    status,
    reason: error.reason,
    message,
    problems: error.problems,
    headers: headersOf(error, status),
  };
}

/** Refusals that no token caused; RFC 6750 section 3.1 forbids an error code for them. */
const WITHOUT_TOKEN = new Set([
  "access.credential_missing",
  "access.session_missing",
  "access.token_missing",
  "access.sign_in_failed",
]);

/**
 * The draft that defines these headers still changes, so their names are only in this function.
 * @param retryAfterSeconds until the budget allows a request again
 * @source draft-ietf-httpapi-ratelimit-headers-10 sections 3 and 4
 */
const budgetHeaders = (
  { name, limit, windowSeconds }: SpentBudget,
  retryAfterSeconds: number,
): Record<string, string> => ({
  "ratelimit-policy": `"${name}";q=${limit};w=${windowSeconds}`,
  ratelimit: `"${name}";r=0;t=${retryAfterSeconds}`,
});

function headersOf(error: DomainError, status: number): Record<string, string> {
  const headers: Record<string, string> = {};
  const { retryAfterSeconds, budget } = error;
  if (retryAfterSeconds !== undefined) headers["retry-after"] = String(retryAfterSeconds);
  if (budget) Object.assign(headers, budgetHeaders(budget, retryAfterSeconds ?? budget.windowSeconds));
  // RFC 6750 section 3.1: a caller without a credential gets only the scheme.
  if (status === 401) {
    headers["www-authenticate"] = WITHOUT_TOKEN.has(error.reason) ? "Bearer" : 'Bearer error="invalid_token"';
  }
  return headers;
}

/**
 * @param members additional members for a path
 * @returns the response with `Cache-Control: no-store`
 */
export function problemResponse(
  failure: Failure,
  requestId: string,
  members: Readonly<Record<string, string>> = {},
): Response {
  const { status, reason, message, problems, headers } = failure;
  const body = {
    type: "about:blank",
    title: TITLES[status] ?? "Error",
    status,
    detail: message,
    error: message, // the workstation client displays this member
    reason,
    request_id: requestId,
    ...failure.members,
    ...members,
  };
  const errors = problems.length > 0 ? { errors: thatFit(problems, body) } : {};
  return new Response(JSON.stringify({ ...body, ...errors }), {
    status,
    headers: { ...headers, "content-type": "application/problem+json", "cache-control": "no-store" },
  });
}

const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value));

/** @returns the problems that fit into the response, and a line that counts the omitted ones */
function thatFit(problems: readonly Problem[], rest: object): object[] {
  const listed: object[] = [];
  let bytes = bytesOf(rest) + CLOSING_BYTES;
  for (const { pointer, detail } of problems) {
    const entry = { pointer: excerpt(pointer), detail: excerpt(detail, MESSAGE_CHARACTERS_MAX) };
    bytes += bytesOf(entry) + 1;
    if (bytes > PROBLEM_BYTES_MAX)
      return [...listed, { pointer: "", detail: `and ${problems.length - listed.length} more` }];
    listed.push(entry);
  }
  return listed;
}

/** The response to a bug: only the request id, which leads to the cause in the log. */
export const internalFailure: Failure = {
  status: 500,
  reason: "internal",
  message: "internal error; the log of the service has details for this request id",
  problems: [],
  headers: {},
};

/** The response while the service starts, because the socket opens before the data is ready. The request body is not read. */
export const startingFailure: Failure = {
  status: 503,
  reason: "service.starting",
  message: "the service is starting; try again in a moment",
  problems: [],
  headers: { "retry-after": "1", connection: "close" },
};
