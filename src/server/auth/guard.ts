// Decides who may call a route. Every route declares `requires`; the check runs before the body, query or path is read. The
// access area authenticates; this file finds the credential and compares it with the requirement.
import { bearer } from "@elysiajs/bearer";
import { Elysia } from "elysia";
import type { Authenticator, Principal } from "../../domain/access/authentication/authenticate.ts";
import { type Scope, USER_SCOPES } from "../../domain/access/wire.ts";
import { DomainError } from "../../platform/errors.ts";
import { createAddressCheck, type Schemas } from "../http/bodies/validation.ts";
import { type Exchange, exchangeOf } from "../http/exchange.ts";
import { bearerTokenIn } from "./bearer-token.ts";
import { sessionTokenOf } from "./cookies.ts";
import type { TokenVerificationLimit } from "./token-verification-limit.ts";

/**
 * `nobody`: no credential is checked. `anyone`: any valid credential. `administrator`: the admin role, and for a bearer token
 * also the scope governance:read. A scope name: a credential with that scope; a browser session has all scopes. `session`: a
 * browser session, no workstation token. `workstation`: a token with governance:read, no browser session. `metrics`: a caller
 * that metrics-access.ts admits, or an administrator. `scim`: a token of an identity provider. `proxy`: the token of the
 * inference proxy. The last two open nothing else.
 */
export type Requirement =
  | "nobody"
  | "anyone"
  | "session"
  | "workstation"
  | "administrator"
  | "metrics"
  | "scim"
  | "proxy"
  | Scope;

export interface GuardOptions {
  authenticator: Authenticator;
  verificationLimit: TokenVerificationLimit;
  /** origin of our own pages; session cookies are ignored on requests that another site started */
  baseUrl(): string;
  canReadMetrics(request: Request, exchange: Exchange): boolean;
  /** stores the calling identity provider in the exchange, or throws the refusal */
  admitProvider(request: Request): void;
  /** throws unless the caller is the inference proxy */
  admitProxy(request: Request): void;
}

/** An administrator's token also needs this scope. */
export const ADMINISTRATOR_SCOPE: Scope = "governance:read";
const WORKSTATION_SCOPE: Scope = "governance:read";

/** @returns the plugin with the macro `requires` */
export function createGuard(options: GuardOptions) {
  return new Elysia({ name: "guard" }).use(bearer()).macro({
    requires: (requirement: Requirement) => {
      const detail: { "x-requires": Requirement; hide?: boolean } = { "x-requires": requirement };
      let checkAddress: ReturnType<typeof createAddressCheck> = () => {};
      return {
        detail,
        introspect(route: Schemas) {
          checkAddress = createAddressCheck(route);
        },
        transform: async ({ request, route, bearer, params, query }) => {
          const exchange = exchangeOf(request);
          exchange.route = route;
          // User tokens and cookies do not count on these two.
          if (requirement === "scim") options.admitProvider(request);
          else if (requirement === "proxy") options.admitProxy(request);
          else if (
            requirement !== "nobody" &&
            !(requirement === "metrics" && options.canReadMetrics(request, exchange))
          ) {
            const token = tokenOf(request, bearer);
            const principal =
              token === undefined
                ? visitorOf(request, { ...options, requirement })
                : (options.authenticator.known(token) ?? (await verified(token, options, request)));
            exchange.principal = principal; // set before the check below so that the log names a refused caller
            requireStatus(principal, requirement);
          }
          exchange.isAdmitted = requirement !== "nobody";
          checkAddress({ request, params, query });
        },
      };
    },
  });
}

/** The requirements that a principal is checked against. */
type Wanted = Exclude<Requirement, "nobody" | "scim" | "proxy">;

/** Verifies a token that is seen for the first time. */
const verified = (
  token: string,
  { authenticator, verificationLimit }: GuardOptions,
  request: Request,
): Promise<Principal> =>
  verificationLimit.run(exchangeOf(request).address, () => authenticator.bearer(token), {
    known: () => authenticator.known(token),
    signalOf: () => request.signal,
  });

function requireStatus(principal: Principal, requirement: Wanted): void {
  if (requirement === "anyone") return;
  if (requirement === "session") {
    if (principal.kind !== "session") throw noSession();
    return;
  }
  if (requirement === "workstation") {
    if (principal.kind !== "bearer") throw noToken();
    requireScope(principal, WORKSTATION_SCOPE);
    return;
  }
  if (requirement !== "administrator" && requirement !== "metrics") {
    requireScope(principal, requirement);
    return;
  }
  if (principal.role !== "admin") {
    throw new DomainError("forbidden", "access.role_missing", "the role admin is required");
  }
  requireScope(principal, ADMINISTRATOR_SCOPE);
}

function requireScope(principal: Principal, scope: Scope): void {
  if (principal.scopes.has(scope)) return;
  throw new DomainError("forbidden", "access.scope_missing", `the scope ${scope} is required`);
}

const SCHEME = "Bearer ";

/**
 * The plugin also accepts `?access_token=`, which RFC 9700 section 4.3.2 forbids, and `Bearerabc`; neither counts here. It knows one
 * spelling of the scheme, which all but a few callers use.
 * @param bearer the token as the plugin found it, not necessarily in the Authorization header
 * @returns the bearer token; a request with one never falls back to the cookie, even if the token is invalid
 */
function tokenOf(request: Request, bearer: string | undefined): string | undefined {
  const isUsual = request.headers.get("authorization")?.startsWith(SCHEME);
  return isUsual ? bearer?.trimStart() : bearerTokenIn(request);
}

/** @returns the user of the session cookie */
function visitorOf(request: Request, checks: GuardOptions & { requirement: Wanted }): Principal {
  const baseUrl = checks.baseUrl();
  const token = sessionTokenOf(request, baseUrl);
  if (token === undefined) throw noCredential(checks.requirement);
  refuseForeignOrigin(request, baseUrl);
  return checks.authenticator.session(token);
}

const noCredential = (requirement: Wanted) =>
  new DomainError(
    "unauthenticated",
    "access.credential_missing",
    requirement === "metrics"
      ? "send the token of the setting metrics.token as a bearer token, or sign in as an administrator"
      : "sign in first: send an access token or a session cookie",
  );

const noSession = () =>
  new DomainError("unauthenticated", "access.session_missing", "a browser session is required, not a token");

/** @returns the error for a missing workstation token */
export const noToken = () =>
  new DomainError(
    "unauthenticated",
    "access.token_missing",
    "a workstation token is required, not a browser session",
  );

const SAFE_METHODS = new Set(["GET", "HEAD"]);

/**
 * Rejects state changes that another site's page started, because browsers attach the cookie to them. A request without
 * an Origin header is allowed, because browsers always send one with cross-site changes.
 * @throws DomainError `access.foreign_origin`
 */
export function refuseForeignOrigin(request: Request, baseUrl: string): void {
  if (!SAFE_METHODS.has(request.method)) refuseForeignPage(request, baseUrl);
}

/**
 * Applies the same check to every method, for the few GET operations that change state.
 * @throws DomainError `access.foreign_origin`
 */
export function refuseForeignPage(request: Request, baseUrl: string): void {
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  if ((origin === null || origin === baseUrl) && site !== "cross-site") return;
  throw new DomainError("forbidden", "access.foreign_origin", "a page of another site sent this request");
}

/**
 * Not part of the route's `detail`, because the framework concatenates the lists of a macro each time it is applied.
 * @returns the OpenAPI security requirement
 */
export function securityOf(requirement: Requirement): object[] {
  if (requirement === "nobody") return [];
  if (requirement === "session") return [{ browserSession: [] }];
  if (requirement === "scim") return [{ scimBearer: [] }];
  if (requirement === "proxy") return [{ proxyBearer: [] }];
  if (requirement === "workstation") return [{ oauthDevice: [WORKSTATION_SCOPE] }];
  const scopes = USER_SCOPES.filter((scope) => scope === requirement);
  return [{ oauthDevice: scopes }, { browserSession: [] }];
}
