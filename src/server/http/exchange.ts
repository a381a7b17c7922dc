// What the server knows about one request while it is answered, kept beside the Request and never inside a service.
import type { Principal } from "../../domain/access/authentication/authenticate.ts";
import type { SignInName } from "../../domain/access/sign-in/login-sessions.ts";
import type { ScimType } from "../../domain/scim/errors.ts";
import type { ScimCaller } from "../../domain/scim/model.ts";
import type { Actor } from "../../domain/shared/actor.ts";
import { invariant } from "../../platform/errors.ts";

/** How long request bodies may take. */
export interface BodyTimes {
  /** a caller without a valid credential has this long to send a body */
  unauthenticatedMs: number;
  /** an answer waits this long for the rest of an unread body, so that the connection can be kept */
  graceMs: number;
}

export interface Exchange {
  readonly requestId: string;
  /** network address of the caller; null on a Unix socket */
  readonly address: string | null;
  readonly bodyTimes: BodyTimes;
  /** set by the guard once it has accepted the caller's credential */
  isAdmitted: boolean;
  /** set by the guard: the route's template, for metrics and log */
  route: string | undefined;
  /** set by the guard on routes that need a caller */
  principal: Principal | undefined;
  /** set where a caller is refused: why, for the log; a form shows its page again instead of a problem */
  refusal?: Refusal | undefined;
  /** set by the guard while a token that it did not know waits to be verified; never rejects */
  verification?: Promise<void> | undefined;
  /** what came of the verification: gives the caller, or throws the refusal */
  verified?: (() => Principal) | undefined;
  /** set by the guard on the routes of identity providers, before it knows which one calls */
  scim: ScimExchange | undefined;
}

/** Why a caller was refused. */
export interface Refusal {
  reason: string;
  /** who tried to sign in */
  account?: SignInName;
}

/** What is known of a SCIM request, for its handler and its line in the log. */
export interface ScimExchange {
  caller: (ScimCaller & { tokenId: string }) | undefined;
  resourceId: string | undefined;
  refusal: { scimType: ScimType | undefined; detail: string } | undefined;
  /** attributes of its body that nobody knows */
  ignored: number;
}

const exchanges = new WeakMap<Request, Exchange>();

export function openExchange(request: Request, exchange: Exchange): void {
  exchanges.set(request, exchange);
}

/** @returns the exchange of a request that came in through the server */
export function exchangeOf(request: Request): Exchange {
  const exchange = exchanges.get(request);
  invariant(exchange, "every request has an exchange");
  return exchange;
}

/** @returns the caller of a guarded route */
export function principalOf(request: Request): Principal {
  const { principal } = exchangeOf(request);
  invariant(principal, "the route has a guard that needs a caller");
  return principal;
}

/** @returns the caller as services and the audit log know it */
export function actorOf(request: Request): Actor {
  const { requestId, address } = exchangeOf(request);
  const { userId: id, email: label, organizationId, grantId, sessionId } = principalOf(request);
  const credential = credentialOf({ grantId, sessionId });
  return { kind: "user", id, label, organizationId, requestId, credential, ...(address && { address }) };
}

const credentialOf = ({ grantId, sessionId }: Pick<Principal, "grantId" | "sessionId">): string =>
  grantId === null ? `login_session:${sessionId}` : `grant:${grantId}`;

/** Keeps for the log why a caller was refused; what was known before stays. */
export function noteRefusal(request: Request, refusal: Refusal): void {
  const exchange = exchangeOf(request);
  const { reason, account = exchange.refusal?.account } = refusal;
  exchange.refusal = account ? { reason, account } : { reason };
}
