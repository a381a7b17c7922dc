// Checks a provider as far as possible before anyone signs in, with one finding per check. `sso verify` prints the findings, and
// `doctor` only the problems.
import { SECOND_MS } from "../../../platform/clock.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { SsoSettings } from "../settings.ts";
import { OidcClient } from "./client/oidc-client.ts";
import { destinationsOf } from "./discovery/destinations.ts";
import { discoveryUrl, type ProviderMetadata } from "./discovery/metadata.ts";
import { responseRemedy } from "./discovery/response-remedies.ts";
import type { Connection } from "./provider.ts";
import { TOKEN_ALGORITHMS } from "./tokens/provider-keys.ts";

/** The result of one check, in the form of `doctor`. */
export interface ProviderFinding {
  /** name in snake_case */
  check: string;
  result: "ok" | "warning" | "failed" | "skipped";
  detail: string;
  /** how to fix it; null if there is nothing to fix */
  remedy: string | null;
}

/** The checks that the installation adds. */
export interface VerificationParts {
  /** undefined if the origin of the service is not known */
  redirectUri: string | undefined;
  /** the redirect URI at the last successful sign-in, if known */
  formerRedirectUri: string | undefined;
}

/** @returns the findings in the order of the checks; does not reject because of the provider */
export async function verifyProvider(
  connection: Connection,
  parts: VerificationParts,
): Promise<ProviderFinding[]> {
  const { settings, discovery } = connection;
  const own = [redirectFinding(parts)];
  const found = await attempt(
    "discovery",
    () => discovery.reload(),
    (error) => responseRemedy(error, discoveryUrl(settings.issuer)),
  );
  if ("failed" in found) return [found.failed, ...NEEDS_DISCOVERY.map(skipped), ...own];
  const metadata = found.value;
  return [
    ok("discovery", `${settings.issuer} answers with the same issuer`),
    endpointsFinding(metadata),
    algorithmsFinding(metadata),
    challengeFinding(metadata),
    logOnFinding(metadata),
    await keysFinding(connection, metadata),
    clockFinding(connection),
    ...(await clientFindings(connection, metadata, parts)),
    ...logoutFindings(metadata, settings),
    ...own,
  ];
}

const NEEDS_DISCOVERY = ["endpoints", "algorithms", "pkce", "log_on", "keys", "clock", "client"];

const ok = (check: string, detail: string): ProviderFinding => ({
  check,
  result: "ok",
  detail,
  remedy: null,
});
const warning = (check: string, detail: string, remedy: string): ProviderFinding => ({
  check,
  result: "warning",
  detail,
  remedy,
});
const failed = (check: string, detail: string, remedy: string): ProviderFinding => ({
  check,
  result: "failed",
  detail,
  remedy,
});
const skipped = (check: string): ProviderFinding => ({
  check,
  result: "skipped",
  detail: "requires discovery",
  remedy: null,
});

async function attempt<T>(
  check: string,
  work: () => Promise<T>,
  remedyFor: (error: DomainError) => string,
): Promise<{ value: T } | { failed: ProviderFinding; error: DomainError }> {
  try {
    return { value: await work() };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { failed: failed(check, detailOf(error), remedyFor(error)), error };
  }
}

/** The cause has details that the message, which everyone sees, must not have. */
const detailOf = ({ message, cause }: DomainError): string =>
  typeof cause === "string" ? `${message}: ${cause}` : message;

const endpointsFinding = (metadata: ProviderMetadata): ProviderFinding =>
  ok(
    "endpoints",
    `reached at ${destinationsOf(metadata.issuer, metadata)
      .map(({ origin }) => origin)
      .join(", ")}`,
  );

function algorithmsFinding({ tokenAlgorithms }: ProviderMetadata): ProviderFinding {
  const accepted = TOKEN_ALGORITHMS.join(", ");
  const common = tokenAlgorithms?.filter((algorithm) => TOKEN_ALGORITHMS.includes(algorithm));
  if (common === undefined || common.length > 0)
    return ok("algorithms", `ID tokens are signed with ${common?.join(", ") ?? "RS256"}`);
  return failed(
    "algorithms",
    `the provider signs ID tokens with ${tokenAlgorithms?.join(", ")}, and ${accepted} are accepted`,
    "choose one of them for this client at the provider",
  );
}

const challengeFinding = ({ challengeMethods }: ProviderMetadata): ProviderFinding =>
  challengeMethods?.includes("S256")
    ? ok("pkce", "the provider supports S256")
    : warning(
        "pkce",
        "the provider does not announce PKCE with S256",
        "turn PKCE on for this client at the provider; sign-ins send it in any case",
      );

/** A forced log-on confirms sensitive changes only if the token states its time: see tokens/id-token.ts. */
function logOnFinding({ claims }: ProviderMetadata): ProviderFinding {
  const check = "log_on";
  if (claims === undefined)
    return { check, result: "skipped", detail: "the provider does not list its claims", remedy: null };
  if (claims.includes("auth_time")) return ok(check, "ID tokens can include the sign-in time (auth_time)");
  return warning(
    check,
    "the provider does not list auth_time, which people need to confirm a sensitive change by signing in again",
    "let the provider send auth_time in ID tokens; until then, make such changes with the commands on the server",
  );
}

async function keysFinding(
  { keys }: Connection,
  { keysEndpoint }: ProviderMetadata,
): Promise<ProviderFinding> {
  const found = await attempt(
    "keys",
    () => keys.reload(),
    (error) => responseRemedy(error, keysEndpoint),
  );
  if ("failed" in found) return found.failed;
  return found.value > 0
    ? ok("keys", `${found.value} published`)
    : failed("keys", "the provider publishes no key", "create a signing key at the provider");
}

function clockFinding({ requests: { clockOffsetMs }, settings }: Connection): ProviderFinding {
  if (clockOffsetMs === undefined)
    return {
      check: "clock",
      result: "skipped",
      detail: "the provider sends no time",
      remedy: null,
    };
  const seconds = Math.round(clockOffsetMs / SECOND_MS);
  const apart = `the provider's clock is ${Math.abs(seconds)} s ${seconds < 0 ? "behind" : "ahead of"} ours`;
  if (Math.abs(seconds) <= settings.clockSkewSeconds) return ok("clock", apart);
  return failed(
    "clock",
    `${apart}, and ${settings.clockSkewSeconds} s are accepted`,
    "synchronize the clock of this machine (timedatectl), or of the provider",
  );
}

/** Redeems an invented code, because only an authenticated client gets the error for a wrong code. */
async function clientFindings(
  connection: Connection,
  metadata: ProviderMetadata,
  { redirectUri }: VerificationParts,
): Promise<ProviderFinding[]> {
  const { settings, requests } = connection;
  const { method } = settings.credential;
  if (metadata.clientMethods && !metadata.clientMethods.includes(method))
    return [
      failed(
        "client",
        `the provider does not offer ${method}, but ${metadata.clientMethods.join(", ")}`,
        "set identity.oidc.client_auth",
      ),
    ];
  const client = await OidcClient.create({ metadata, settings, requests });
  const response = await client
    .redeemNothing(redirectUri ?? "https://localhost/")
    .catch((error: unknown) => error);
  const reason = response instanceof DomainError ? response.reason : undefined;
  if (reason === "sso.code_rejected")
    return [ok("client", `the provider accepts ${settings.clientId} by ${method}`)];
  const detail =
    response instanceof DomainError ? detailOf(response) : "the provider took a code that it did not issue";
  if (reason === "sso.client_rejected") return [failed("client", detail, CLIENT_REMEDY)];
  return [warning("client", `not certain: ${detail}`, CLIENT_REMEDY)];
}

const CLIENT_REMEDY =
  "compare identity.oidc.client_id and the client secret or key with the provider; a reload takes new ones";

function logoutFindings(
  { endSessionEndpoint }: ProviderMetadata,
  { logout }: SsoSettings,
): ProviderFinding[] {
  if (logout !== "idp") return [];
  return [
    endSessionEndpoint === undefined
      ? warning(
          "logout",
          "the provider has no end_session_endpoint, so signing out ends only the session here",
          "set identity.oidc.logout to local",
        )
      : ok("logout", "signing out continues at the provider"),
  ];
}

/** A provider refuses an unregistered redirect URI only in the user's browser. */
function redirectFinding({ redirectUri, formerRedirectUri }: VerificationParts): ProviderFinding {
  const check = "redirect_uri";
  if (redirectUri === undefined)
    return warning(check, "the origin of this service is not known", "set server.public_url");
  if (formerRedirectUri !== undefined && formerRedirectUri !== redirectUri)
    return warning(
      check,
      `the redirect URI is ${redirectUri}, and was ${formerRedirectUri} at the last sign-in`,
      `register ${redirectUri} at the provider, or set server.public_url back`,
    );
  return ok(check, `${redirectUri} must be registered at the provider`);
}
