// The service of sso.ts with the identity provider that it trusts, and browsers with one address each: the service reads the
// address from a header, because it limits the sign-ins of one address.
import { createHash, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { FormBrowser } from "../../support/browser/form-browser.ts";
import {
  CLIENT_ID,
  CLIENT_SECRET,
  createLyingProvider,
  type LyingProvider,
} from "../../support/provider/lying-provider.ts";
import type { Running } from "../processes.ts";
import { startQuartermaster } from "../tools/installation.ts";
import type { LoadRequest } from "../tools/load.ts";
import type { TokenRequest } from "./sso-share.ts";

const CALLBACK = "/api/auth/callback/oidc";
export const START = "/login/oidc";

export interface SsoSite extends AsyncDisposable {
  data: string;
  service: Running;
  idp: LyingProvider;
  /** Starts a sign-in and follows it through the provider. @returns the sign-in, one step before its end */
  leave(): Promise<SignIn>;
  /** @returns requests of as many addresses */
  requests(path: string, addresses: number): LoadRequest[];
}

export interface SignIn {
  /** Sends the callback to the service. */
  finish(): Promise<void>;
}

/** @returns a service in which everybody of one domain signs in at a provider in this process */
export async function startSsoSite(directory: string): Promise<SsoSite> {
  await using started = new AsyncDisposableStack();
  const idp = started.use(await createLyingProvider({ algorithm: "RS256" }));
  const secret = join(directory, "client-secret");
  writeFileSync(secret, CLIENT_SECRET, { mode: 0o600 });
  const data = join(directory, "data");
  const service = await startQuartermaster(
    data,
    ...["--server-trusted-proxies", "127.0.0.1/32"],
    ...["--identity-oidc-issuer", idp.issuer, "--identity-oidc-client-id", CLIENT_ID],
    ...["--identity-oidc-client-secret-file", secret],
    ...["--identity-oidc-provisioning", "jit", "--identity-oidc-allowed-domains", "example.com"],
  );
  started.defer(service.stop);
  const origin = `http://127.0.0.1:${service.port}`;
  const running = started.move();
  return {
    data,
    service,
    idp,
    leave: () => leave(origin, idp),
    requests: (path, addresses) =>
      Array.from({ length: addresses }, () => ({ method: "GET", path, headers: fromNextAddress() })),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

let addresses = 0;
/** @returns headers of a request from an address that sent none before */
function fromNextAddress(): Record<string, string> {
  addresses += 1;
  return { "X-Forwarded-For": `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}` };
}

async function leave(origin: string, idp: LyingProvider): Promise<SignIn> {
  const browser = new FormBrowser(origin, (request) => fetch(request));
  const headers = fromNextAddress();
  const begun = await browser.request(START, { headers });
  const query = await idp.authorize(begun.headers.get("location") ?? "");
  const callback = browser.requestTo(`${CALLBACK}?${query}`, { headers });
  const finish = async (): Promise<void> => {
    const { status } = await fetch(callback);
    if (status !== 303) throw new Error(`the sign-in ended with ${status}`);
  };
  return { finish };
}

/** @returns a token request of a client of this service, with a valid code */
export async function codeFor(idp: LyingProvider): Promise<TokenRequest> {
  const verifier = randomBytes(32).toString("base64url");
  const redirectUri = "http://127.0.0.1/callback";
  const request = new URLSearchParams({
    client_id: CLIENT_ID,
    redirect_uri: redirectUri,
    nonce: randomBytes(32).toString("base64url"),
    state: verifier,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
  });
  const code = (await idp.authorize(`${idp.issuer}/authorize?${request}`)).get("code") ?? "";
  const credential = [CLIENT_ID, CLIENT_SECRET].map(encodeURIComponent).join(":");
  const sent = { grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: verifier };
  return {
    headers: {
      authorization: `Basic ${Buffer.from(credential).toString("base64")}`,
      "content-type": "application/x-www-form-urlencoded",
    },
    body: new URLSearchParams(sent).toString(),
  };
}
