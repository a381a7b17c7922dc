// Verifies signatures within one turn of the event loop. jose verifies in another thread, which takes longer than the signature
// itself. jose still checks the first token with each header. The header alone determines algorithm, key and extensions, so a later
// token with exactly the same header needs only its signature and claims checked.
import { constants, KeyObject, type VerifyKeyObjectInput, verify } from "node:crypto";
import { type JWTClaimVerificationOptions, type JWTVerifyResult, UnsecuredJWT } from "jose";

/** Maximum number of headers. A provider has one for each key and type of token. */
export const KNOWN_HEADERS_MAX = 100;

/** EdDSA is left to jose: in its thread it is faster. */
const PARAMETERS: ReadonlyMap<string, Omit<VerifyKeyObjectInput, "key">> = new Map([
  ["RS256", { padding: constants.RSA_PKCS1_PADDING }],
  ["PS256", { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }],
  ["ES256", { dsaEncoding: "ieee-p1363" as const }],
]);
const DIGEST = "sha256";

interface KnownHeader {
  header: JWTVerifyResult["protectedHeader"];
  input: VerifyKeyObjectInput;
}

/** Known headers of tokens, for one set of keys. */
export class KnownHeaders {
  readonly #known = new Map<string, KnownHeader>();

  /** Records the key with which jose verified a token. */
  remember(token: string, header: KnownHeader["header"], key: unknown): void {
    const parameters = PARAMETERS.get(header.alg);
    if (!parameters || !(key instanceof CryptoKey) || this.#known.size >= KNOWN_HEADERS_MAX) return;
    this.#known.set(headerOf(token), { header, input: { ...parameters, key: KeyObject.from(key) } });
  }

  /**
   * @returns undefined if jose must decide, because the header is unknown or its key did not sign the token
   * @throws the errors of jose about claims
   */
  verified(token: string, options: JWTClaimVerificationOptions): JWTVerifyResult | undefined {
    const known = this.#known.get(headerOf(token));
    if (!known) return undefined;
    const end = token.lastIndexOf(".");
    const encoded = token.slice(end + 1);
    const signature = Buffer.from(encoded, "base64url");
    // Leaves text that is not base64url to jose, which refuses it; the decoder would skip it.
    if (signature.toString("base64url") !== encoded) return undefined;
    if (!verify(DIGEST, Buffer.from(token.slice(0, end)), known.input, signature)) return undefined;
    const { payload } = UnsecuredJWT.decode(withoutSignature(token, end), options);
    return { payload, protectedHeader: known.header };
  }
}

const headerOf = (token: string): string => token.slice(0, token.indexOf("."));

const UNSECURED = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");

/** jose checks claims without a signature only for an unsecured token (RFC 7519 section 6). */
const withoutSignature = (token: string, end: number): string =>
  `${UNSECURED}${token.slice(token.indexOf("."), end)}.`;
