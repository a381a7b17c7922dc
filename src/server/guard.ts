// Who may call a route. Every route says `requires`; the check runs before a body, a query or a path is looked at.
// Authentication itself is the access area's: this file finds the credential and compares it with what the route needs.
import { bearer } from "@elysiajs/bearer";
import { Elysia } from "elysia";
import type { Authenticator, Principal } from "../domain/access/authenticate.ts";
import { type Scope, USER_SCOPES } from "../domain/access/wire.ts";
import { DomainError } from "../domain/errors.ts";
import { sessionTokenOf } from "./cookies.ts";
import { type Exchange, exchangeOf } from "./exchange.ts";

/**
 * `nobody`: no credential is looked at. `anyone`: any valid credential. `administrator`: the role, and for a bearer
 * token the scope governance:read. A scope: a credential that holds it; a browser session holds all of them.
 * `session`: a person at a browser; no token of a workstation. `metrics`: the metrics token, an administrator, or a
 * caller on this machine.
 */
export type Requirement = "nobody" | "anyone" | "session" | "administrator" | "metrics" | Scope;

export interface GuardOptions {
  authenticator: Authenticator;
  /** origin of our own pages: cookies of a request that another site started do not count */
  baseUrl(): string;
  mayReadMetrics(request: Request, exchange: Exchange): boolean;
}

/** The scope without which a token does nothing for an administrator either (control-api.md section 20.1.1). */
const ADMINISTRATOR_SCOPE: Scope = "governance:read";

/** @returns the plugin with the macro `requires` */
export function createGuard(options: GuardOptions) {
  return new Elysia({ name: "guard" }).use(bearer()).macro({
    requires: (requirement: Requirement) => ({
      detail: describeRequirement(requirement),
      // The framework reads this function's text: members must be named here, or they may be missing.
      transform({ request, route, bearer }: { request: Request; route: string; bearer: string | undefined }) {
        const exchange = exchangeOf(request);
        exchange.route = route;
        if (requirement === "nobody") return;
        return admit(options, { exchange, requirement, request, bearer });
      },
    }),
  });
}

interface Admission {
  exchange: Exchange;
  requirement: Exclude<Requirement, "nobody">;
  request: Request;
  bearer: string | undefined;
}

/** Synchronous wherever the credential is known already: an await would cost more than the check. */
function admit(options: GuardOptions, admission: Admission): void | Promise<void> {
  const { exchange, requirement, request } = admission;
  if (requirement === "metrics" && options.mayReadMetrics(request, exchange)) return;
  const caller = identify(options, admission);
  if (caller instanceof Promise) return caller.then((principal) => accept(admission, principal));
  accept(admission, caller);
}

function accept({ exchange, requirement }: Admission, principal: Principal): void {
  exchange.principal = principal;
  if (requirement === "anyone") return;
  if (requirement === "session") {
    if (principal.kind !== "session") throw noSession();
    return;
  }
  if (requirement !== "administrator" && requirement !== "metrics") {
    needScope(principal, requirement);
    return;
  }
  if (principal.role !== "admin") {
    throw new DomainError("forbidden", "access.role_missing", "this needs the role admin");
  }
  needScope(principal, ADMINISTRATOR_SCOPE);
}

function needScope(principal: Principal, scope: Scope): void {
  if (principal.scopes.has(scope)) return;
  throw new DomainError("forbidden", "access.scope_missing", `this needs the scope ${scope}`);
}

/** A bearer token, even a bad one, decides alone: it never falls back to the cookie (client-and-auth.md section 2.7). */
function identify(options: GuardOptions, { request, bearer }: Admission): Principal | Promise<Principal> {
  const authorization = request.headers.get("authorization");
  // The plugin also reads `?access_token=` and `Bearerabc`: neither is a credential here (RFC 9700 section 4.3.2).
  if (authorization?.startsWith("Bearer ")) {
    if (bearer === undefined) throw noCredential();
    return options.authenticator.bearer(bearer);
  }
  const token = sessionTokenOf(request);
  if (token === undefined) throw noCredential();
  refuseForeignOrigin(request, options.baseUrl());
  return options.authenticator.session(token);
}

const noCredential = () =>
  new DomainError(
    "unauthenticated",
    "access.credential_missing",
    "sign in first: send an access token or a session cookie",
  );

const noSession = () =>
  new DomainError("unauthenticated", "access.session_missing", "this needs a signed-in browser, not a token");

const SAFE_METHODS = new Set(["GET", "HEAD"]);

/**
 * A browser sends the cookie with a request that another site started; that request changes nothing.
 * An absent Origin is no sign of a browser and is let through (client-and-auth.md section 4.4).
 * @throws DomainError `access.foreign_origin`
 */
export function refuseForeignOrigin(request: Request, baseUrl: string): void {
  if (SAFE_METHODS.has(request.method)) return;
  const origin = request.headers.get("origin");
  const site = request.headers.get("sec-fetch-site");
  if ((origin === null || origin === baseUrl) && site !== "cross-site") return;
  throw new DomainError("forbidden", "access.foreign_origin", "this request came from another site's page");
}

/** What the OpenAPI document says about the caller. */
function describeRequirement(requirement: Requirement) {
  if (requirement === "nobody") return { security: [], "x-requires": requirement };
  if (requirement === "session") return { security: [{ browserSession: [] }], "x-requires": requirement };
  const scopes = USER_SCOPES.filter((scope) => scope === requirement);
  return { security: [{ oauthDevice: scopes }, { browserSession: [] }], "x-requires": requirement };
}
