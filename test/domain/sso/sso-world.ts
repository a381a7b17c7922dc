// A server with a configured identity provider, and people with claims as after the verification of their tokens.
import type { User } from "../../../src/domain/identity/service.ts";
import { readPerson } from "../../../src/domain/sso/claims.ts";
import type { Person } from "../../../src/domain/sso/model.ts";
import type { SsoSettings } from "../../../src/domain/sso/settings.ts";
import { SETTINGS } from "../../support/provider/lying-provider.ts";
import {
  ADDRESS,
  createTestServer,
  SCIM_TOKEN,
  type TestServer,
  type TestServerOptions,
} from "../../support/server.ts";

export const ISSUER = "https://id.example.org/";
/** Time at which the sign-in left for the provider: after every announced logout. */
const startedMs = Number.MAX_SAFE_INTEGER;
export const BROWSER = { address: ADDRESS, userAgent: "a browser", requestId: "request-1", startedMs };

export const SSO: SsoSettings = { ...SETTINGS, issuer: ISSUER };

export interface SsoWorld extends TestServer {
  /** replaces settings, as a reload does */
  configure(changes: Partial<SsoSettings>): void;
  person(claims: Record<string, unknown>): Person;
  /** @returns the result as text: the address of the user, `password_needed`, or the reason of the refusal */
  signIn(claims: Record<string, unknown>): Promise<string>;
  /** a user created by SCIM */
  provision(email: string, attributes?: Record<string, unknown>): Promise<string>;
  userOf(email: string): User | undefined;
}

/** @returns a server with `ana@example.org` and the protected first administrator, and no other user */
export async function createSsoWorld(
  settings: Partial<SsoSettings> = {},
  options: TestServerOptions = {},
): Promise<SsoWorld> {
  let current: SsoSettings = { ...SSO, ...settings };
  const server = await createTestServer({ ...options, sso: () => current });
  const { domain, world } = server;
  const person = (claims: Record<string, unknown>) =>
    readPerson({ iss: ISSUER, sub: "subject-1", email_verified: true, ...claims }, current);
  return Object.assign(server, {
    configure: (changes: Partial<SsoSettings>) => {
      current = { ...current, ...changes };
    },
    person,
    async signIn(claims: Record<string, unknown>) {
      const configured = current;
      try {
        const who = person(claims);
        current = { ...current, issuer: who.issuer };
        const admitted = await domain.sso.admission.admit(who, BROWSER);
        return admitted.kind === "signed_in" ? admitted.user.email : admitted.kind;
      } catch (error) {
        if (error instanceof Error && "reason" in error) return String(error.reason);
        throw error;
      } finally {
        current = configured;
      }
    },
    async provision(email: string, attributes: Record<string, unknown> = {}) {
      const body = {
        schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
        userName: email,
        emails: [{ value: email, primary: true }],
        ...attributes,
      };
      const response = await server.request("POST", "/scim/v2/Users", { token: SCIM_TOKEN, body });
      if (response.status !== 201) throw new Error(await response.text());
      const { id } = (await response.json()) as { id: string };
      return id;
    },
    userOf: (email: string) => domain.identity.findUserByEmail(world.db.read, world.organizationId, email),
  });
}
