// State of one request until its response. It is stored next to the Request; services never see it.
import type { Principal } from "../../domain/access/authentication/authenticate.ts";
import type { SignInName } from "../../domain/access/sign-in/login-sessions.ts";
import type { ScimType } from "../../domain/scim/errors.ts";
import type { ScimCaller } from "../../domain/scim/model.ts";
import type { Actor } from "../../domain/shared/actor.ts";
import { invariant } from "../../platform/errors.ts";
import { traceContextIn } from "../../platform/tracing/trace-context.ts";
import type { Forwarding } from "../listener/peer-address.ts";

/** Time limits of request bodies. */
export interface BodyTimes {
  /** time for an unauthenticated caller to send a body */
  unauthenticatedMs: number;
  /** time to wait for the rest of an unread body, so that the connection can be reused */
  graceMs: number;
  /** time without a byte that ends the reading of a refused body */
  silentMs: number;
}

export interface Exchange {
  readonly requestId: string;
  /** network address of the caller; null on a Unix socket */
  readonly address: string | null;
  /** how the address was found */
  readonly forwarding: Forwarding;
  readonly bodyTimes: BodyTimes;
  /** set by the guard after it accepted the credential */
  isAdmitted: boolean;
  /** set by the guard: the route template, for metrics and the log */
  route: string | undefined;
  /** set by the guard on routes that require a caller */
  principal: Principal | undefined;
  /** set when a caller is refused; the reason for the log, because a form repeats its page instead of showing an error */
  refusal?: Refusal | undefined;
  /** event that the log names as a warning, such as a sign-in that should be rare */
  warning?: string;
  /** set by a sign-in at the provider: own path to continue at, for the link of an error page */
  next?: string | undefined;
  /** Set-Cookie values for the response, even if it is an error */
  cookies?: readonly string[];
  /** set by the guard on SCIM routes, before the provider is known */
  scim: ScimExchange | undefined;
}

/** Why a caller was refused. */
export interface Refusal {
  reason: string;
  /** the name that was used to sign in */
  account?: SignInName;
}

/** State of a SCIM request for its handler and its log line. */
export interface ScimExchange {
  caller: (ScimCaller & { tokenId: string }) | undefined;
  resourceId: string | undefined;
  refusal: { scimType: ScimType | undefined; detail: string } | undefined;
  /** number of unknown attributes in the body */
  ignored: number;
}

/** Placeholder for the route of a request that matches none. */
export const UNMATCHED = "unmatched";

/** A member of the request. A WeakMap would make each request more expensive, and each garbage collection. */
const EXCHANGE = Symbol("exchange");

declare global {
  interface Request {
    [EXCHANGE]?: Exchange;
  }
}

export function openExchange(request: Request, exchange: Exchange): void {
  request[EXCHANGE] = exchange;
}

/** @returns the exchange of a request that the server received */
export function exchangeOf(request: Request): Exchange {
  const exchange = request[EXCHANGE];
  invariant(exchange, "every request has an exchange");
  return exchange;
}

/** @returns the caller of a guarded route */
export function principalOf(request: Request): Principal {
  const { principal } = exchangeOf(request);
  invariant(principal, "the route has a guard that needs a caller");
  return principal;
}

/** @returns the caller as an actor for services and the audit log */
export function actorOf(request: Request): Actor {
  const { requestId, address } = exchangeOf(request);
  const { userId: id, email: label, organizationId, grantId, sessionId } = principalOf(request);
  const credential = credentialOf({ grantId, sessionId });
  return { kind: "user", id, label, organizationId, requestId, credential, ...(address && { address }) };
}

const credentialOf = ({ grantId, sessionId }: Pick<Principal, "grantId" | "sessionId">): string =>
  grantId === null ? `login_session:${sessionId}` : `grant:${grantId}`;

/** Records why a caller was refused; existing details are kept. */
export function noteRefusal(request: Request, refusal: Refusal): void {
  const exchange = exchangeOf(request);
  const { reason, account = exchange.refusal?.account } = refusal;
  exchange.refusal = account ? { reason, account } : { reason };
}

/** @returns the trace id of the caller for the log, 32 hex digits; undefined if `traceparent` is missing or invalid */
export const traceIdOf = ({ headers }: Request): string | undefined => traceContextIn(headers)?.traceId;
