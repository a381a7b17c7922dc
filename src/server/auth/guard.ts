// Who may call a route. Every route says `requires`; the check runs before a body, a query or a path is looked at.
// Authentication itself is the access area's: this file finds the credential and compares it with what the route needs.
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
 * `nobody`: no credential is looked at. `anyone`: any valid credential. `administrator`: the role, and for a bearer
 * token the scope governance:read. A scope: a credential that holds it; a browser session holds all of them.
 * `session`: a person at a browser; no token of a workstation. `workstation`: a token that holds governance:read; no
 * browser. `metrics`: whom metrics-access.ts lets in, or an administrator. `scim`: a token of an identity
 * provider, `proxy`: the token of the inference proxy; these open nothing else.
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
  /** origin of our own pages: cookies of a request that another site started do not count */
  baseUrl(): string;
  canReadMetrics(request: Request, exchange: Exchange): boolean;
  /** names the identity provider behind a request in its exchange, or throws the refusal; never waits */
  admitProvider(request: Request): void;
  /** throws the refusal of whoever is not the inference proxy */
  admitProxy(request: Request): void;
}

/** The scope without which a token does nothing for an administrator either (control-api.md section 20.1.1). */
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

/** The framework reads this function's text: members must be named here, or they may be missing. */
function nameRoute({ request, route }: { request: Request; route: string }): void {
  exchangeOf(request).route = route;
}

interface Address {
  check: ReturnType<typeof createAddressCheck>;
}

/** Bound, as admit is, and behind it. */
function checkAddress(address: Address, context: Parameters<Address["check"]>[0]): void {
  address.check(context);
}

const SCHEME = "Bearer ";

/** Ends a pass through a route whose caller is not known yet; nobody gets to see it. */
const UNDECIDED = status(401);

/**
 * A route whose hooks may wait answers with a promise, even where there is nothing to wait for, and that costs more
 * than the check. So the guard never waits: where a token has to wait its turn to be verified, it ends the pass, and the route is
 * asked again afterwards.
 * @param ask gives the answer of the routes to the request of this exchange
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

/** What a principal of ours may be asked for. */
type Wanted = Exclude<Requirement, "nobody" | "scim" | "proxy">;

interface Gate extends GuardOptions {
  requirement: Wanted;
}

/** Bound, as admit is. Users' tokens and cookies are not looked at (scim.md SCIM-1). */
function admitProvider(options: GuardOptions, { request }: { request: Request }): void {
  options.admitProvider(request);
  exchangeOf(request).isAdmitted = true;
}

/** Bound, as admit is. */
function admitProxy(options: GuardOptions, { request }: { request: Request }): void {
  options.admitProxy(request);
  exchangeOf(request).isAdmitted = true;
}

/**
 * Bound by its caller, so that it has no text: the framework would take it for a hook that may wait.
 * @returns UNDECIDED, or nothing for a caller who may go on
 */
function admit(gate: Gate, { request }: { request: Request }): typeof UNDECIDED | undefined {
  const exchange = exchangeOf(request);
  if (gate.requirement === "metrics" && gate.canReadMetrics(request, exchange)) return undefined;
  const principal = exchange.verified ? exchange.verified() : identify(gate, { request, exchange });
  if (!principal) {
    exchange.verification = verify(gate, { request, exchange });
    return UNDECIDED;
  }
  exchange.principal = principal; // the log names whoever is refused below
  refuseUnfit(principal, gate.requirement);
  exchange.isAdmitted = true;
  return undefined;
}

/**
 * Asks the plugin for the token of a header. It gets no more of the request: it would also read `?access_token=`, which
 * is no credential here (RFC 9700 section 4.3.2).
 */
const tokenReader = new Elysia().use(bearer()).get("/", ({ bearer }) => bearer ?? "");

async function readToken(request: Request): Promise<string> {
  const headers = { authorization: request.headers.get("authorization") ?? "" };
  const answer = await tokenReader.handle(new Request("http://localhost/", { headers }));
  return await answer.text();
}

/** What came of it, a refusal too, is for the next pass, so that the route answers it. */
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
 * A bearer token, even a bad one, decides alone: it never falls back to the cookie (client-and-auth.md section 2.7).
 * @returns undefined for a token that has to wait
 */
function identify(
  gate: Gate,
  { request, exchange }: { request: Request; exchange: Exchange },
): Principal | undefined {
  const authorization = request.headers.get("authorization");
  // The plugin also reads `Bearerabc`, which is no credential.
  if (authorization?.startsWith(SCHEME)) {
    const { authenticator, verificationLimit } = gate;
    const token = authorization.slice(SCHEME.length);
    return (
      authenticator.known(token) ??
      verificationLimit.readConsistently(exchange.address, () => authenticator.bearer(token))
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

/** What a caller is told without the token of a workstation where one is needed. */
export const noToken = () =>
  new DomainError(
    "unauthenticated",
    "access.token_missing",
    "this needs a workstation's token, not a browser",
  );

const SAFE_METHODS = new Set(["GET", "HEAD"]);

/**
 * A browser sends the cookie with a request that another site started; that request changes nothing.
 * An absent Origin is no sign of a browser and is let through (client-and-auth.md section 4.4).
 * @throws DomainError `access.foreign_origin`
 */
export function refuseForeignOrigin(request: Request, baseUrl: string): void {
  if (!SAFE_METHODS.has(request.method)) refuseForeignPage(request, baseUrl);
}

/**
 * The same whatever the method, for the few GET requests of the contract that change something.
 * @throws DomainError `access.foreign_origin`
 */
export function refuseForeignPage(request: Request, baseUrl: string): void {
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  if ((origin === null || origin === baseUrl) && site !== "cross-site") return;
  throw new DomainError("forbidden", "access.foreign_origin", "this request came from another site's page");
}

/**
 * Not part of the route's `detail`: the framework appends the lists of a macro to each other, once for each time it is used.
 * @returns what the OpenAPI document says about the caller
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
