// Decides who may call a route. Every route declares `requires`; the check runs before the body, query or path is read. The
// access area authenticates; this file finds the credential and compares it with the requirement.
import { bearer } from "@elysiajs/bearer";
import { Elysia, status } from "elysia";
import type { Authenticator, Principal } from "../../domain/access/authentication/authenticate.ts";
import { type Scope, USER_SCOPES } from "../../domain/access/wire.ts";
import { DomainError } from "../../platform/errors.ts";
import { createAddressCheck, type Schemas } from "../http/bodies/validation.ts";
import { type Exchange, exchangeOf } from "../http/exchange.ts";
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
  /** stores the calling identity provider in the exchange, or throws the refusal; synchronous */
  admitProvider(request: Request): void;
  /** throws unless the caller is the inference proxy */
  admitProxy(request: Request): void;
}

/** An administrator's token also needs this scope. */
const ADMINISTRATOR_SCOPE: Scope = "governance:read";
const WORKSTATION_SCOPE: Scope = "governance:read";

/** @returns the plugin with the macro `requires` */
export function createGuard(options: GuardOptions) {
  return new Elysia({ name: "guard" }).macro({
    requires: (requirement: Requirement) => {
      const address: Address = { check: () => {} };
      const detail: { "x-requires": Requirement; hide?: boolean } = { "x-requires": requirement };
      return {
        detail,
        introspect(route: Schemas) {
          address.check = createAddressCheck(route);
        },
        transform: [nameRoute, gate(options, requirement), checkAddress.bind(undefined, address)],
      };
    },
  });
}

/** The framework reads this function's source text: it only provides context members that are destructured here. */
function nameRoute({ request, route }: { request: Request; route: string }): void {
  exchangeOf(request).route = route;
}

interface Address {
  check: ReturnType<typeof createAddressCheck>;
}

/** Used with bind for the same reason as `admit`, and runs after it. */
function checkAddress(address: Address, context: Parameters<Address["check"]>[0]): void {
  address.check(context);
}

const SCHEME = "Bearer ";

/** Ends the first pass of a request whose token still has to be verified. Callers never see this answer. */
const UNDECIDED = status(401);

/**
 * Runs the route a second time after a queued token verification. A route with async hooks always answers with a promise,
 * which costs more than the check itself. The guard therefore stays synchronous: when a verification has to wait, it ends the
 * pass with UNDECIDED and the route runs again afterwards.
 * @param ask runs the route for the request of this exchange
 */
export function answerAfterVerification(
  exchange: Exchange,
  ask: () => Response | Promise<Response>,
): Response | Promise<Response> {
  const answer = ask();
  return exchange.verification ? exchange.verification.then(ask) : answer;
}

type Hook = (context: { request: Request }) => void;

function gate(options: GuardOptions, requirement: Requirement): Hook {
  if (requirement === "nobody") return () => {};
  if (requirement === "scim") return admitProvider.bind(undefined, options);
  if (requirement === "proxy") return admitProxy.bind(undefined, options);
  return admit.bind(undefined, { ...options, requirement });
}

/** The requirements that a principal is checked against. */
type Wanted = Exclude<Requirement, "nobody" | "scim" | "proxy">;

interface Gate extends GuardOptions {
  requirement: Wanted;
}

/** Used with bind for the same reason as `admit`. User tokens and cookies are ignored here. */
function admitProvider(options: GuardOptions, { request }: { request: Request }): void {
  options.admitProvider(request);
  exchangeOf(request).isAdmitted = true;
}

/** Used with bind for the same reason as `admit`. */
function admitProxy(options: GuardOptions, { request }: { request: Request }): void {
  options.admitProxy(request);
  exchangeOf(request).isAdmitted = true;
}

/**
 * Callers use it with bind to hide the source text, because the framework would otherwise treat it as an async hook.
 * @returns UNDECIDED while the token is being verified; undefined to continue
 */
function admit(gate: Gate, { request }: { request: Request }): typeof UNDECIDED | undefined {
  const exchange = exchangeOf(request);
  if (gate.requirement === "metrics" && gate.canReadMetrics(request, exchange)) return undefined;
  const principal = exchange.verified ? exchange.verified() : identify(gate, { request, exchange });
  if (!principal) {
    exchange.verification = verify(gate, { request, exchange });
    return UNDECIDED;
  }
  exchange.principal = principal; // set before the checks below so that the log names a refused caller
  refuseUnfit(principal, gate.requirement);
  exchange.isAdmitted = true;
  return undefined;
}

/**
 * Reads the bearer token with the plugin. It passes only the Authorization header, because the plugin would also accept
 * `?access_token=`, which RFC 9700 section 4.3.2 forbids.
 */
const tokenReader = new Elysia().use(bearer()).get("/", ({ bearer }) => bearer ?? "");

async function readToken(request: Request): Promise<string> {
  const headers = { authorization: request.headers.get("authorization") ?? "" };
  const answer = await tokenReader.handle(new Request("http://localhost/", { headers }));
  return await answer.text();
}

/** Stores the result, including a refusal, for the second pass, so that the route answers it. */
async function verify(
  { authenticator, verificationLimit }: GuardOptions,
  { request, exchange }: { request: Request; exchange: Exchange },
): Promise<void> {
  try {
    const token = await readToken(request);
    const principal = await verificationLimit.inTurn(exchange.address, () => authenticator.bearer(token));
    exchange.verified = () => principal;
  } catch (refusal) {
    exchange.verified = () => {
      throw refusal;
    };
  }
}

function refuseUnfit(principal: Principal, requirement: Wanted): void {
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
    throw new DomainError("forbidden", "access.role_missing", "this needs the role admin");
  }
  requireScope(principal, ADMINISTRATOR_SCOPE);
}

function requireScope(principal: Principal, scope: Scope): void {
  if (principal.scopes.has(scope)) return;
  throw new DomainError("forbidden", "access.scope_missing", `this needs the scope ${scope}`);
}

/**
 * A request with a bearer token never falls back to the cookie, even if the token is invalid.
 * @returns undefined for a token whose verification has to wait
 */
function identify(
  gate: Gate,
  { request, exchange }: { request: Request; exchange: Exchange },
): Principal | undefined {
  const authorization = request.headers.get("authorization");
  // The plugin also accepts `Bearerabc`, which is not a valid credential.
  if (authorization?.startsWith(SCHEME)) {
    const { authenticator, verificationLimit } = gate;
    const token = authorization.slice(SCHEME.length);
    return (
      authenticator.known(token) ??
      verificationLimit.verifyNow(exchange.address, () => authenticator.bearer(token))
    );
  }
  const token = sessionTokenOf(request, gate.baseUrl());
  if (token === undefined) throw noCredential(gate.requirement);
  refuseForeignOrigin(request, gate.baseUrl());
  return gate.authenticator.session(token);
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
  new DomainError("unauthenticated", "access.session_missing", "this needs a signed-in browser, not a token");

/** @returns the error for a missing workstation token */
export const noToken = () =>
  new DomainError(
    "unauthenticated",
    "access.token_missing",
    "this needs a workstation's token, not a browser",
  );

const SAFE_METHODS = new Set(["GET", "HEAD"]);

/**
 * Rejects state changes that another site's page started, because browsers attach the cookie to them. A request without an
 * Origin header is allowed: browsers always send one with cross-site changes.
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
  throw new DomainError("forbidden", "access.foreign_origin", "this request came from another site's page");
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
