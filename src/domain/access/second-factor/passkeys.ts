// Passkeys (W3C Web Authentication Level 3): the options for the browser, and the verification of its responses. The library is
// loaded on first use, because most commands and requests never need it. Attestation is not requested, and a response whose
// attestation has certificates is rejected: to verify them, the library would query revocation lists over the network.
import type { AuthenticatorTransport } from "@simplewebauthn/server";
import { passkeyRefused, passkeyWrong } from "./errors.ts";
import { type RelyingParty, readCreatedPasskey, readUsedPasskey } from "./model.ts";
import type { PasskeyRow } from "./second-factor-store.ts";

/** ES256, EdDSA and RS256: what authenticators in use support (RFC 9053 section 2, RFC 8812 section 2). */
const ALGORITHMS = [-7, -8, -257];
const TIMEOUT_MS = 120_000;
/** Attestation formats that work without certificates; Android SafetyNet has them in a signed token (section 8.5). */
const FORMATS: readonly unknown[] = ["none", "packed"];

/** A package inside the library fails to load unless the polyfill is loaded first. */
async function library() {
  await import("reflect-metadata");
  const [server, helpers] = await Promise.all([
    import("@simplewebauthn/server"),
    import("@simplewebauthn/server/helpers"),
  ]);
  return { ...server, ...helpers };
}

/** The required origin of the response. */
interface Expected {
  party: RelyingParty;
  /** whether a challenge in base64url is the expected one */
  isChallenge(encoded: string): boolean;
}

/** The stored facts of a new passkey. */
export type CreatedPasskey = Pick<PasskeyRow, "credentialId" | "publicKey" | "counter" | "transports"> & {
  /** in base64url, as the client sent it */
  challenge: string;
};

/** @returns the options of `navigator.credentials.create()` as JSON */
export async function creationOptions(options: {
  party: RelyingParty;
  organization: string;
  user: { id: string; email: string };
  challenge: string;
  known: readonly PasskeyRow[];
}): Promise<object> {
  const { party, organization, user, challenge, known } = options;
  const { generateRegistrationOptions } = await library();
  return await generateRegistrationOptions({
    rpName: organization,
    rpID: party.id,
    userID: new Uint8Array(Buffer.from(user.id)),
    userName: user.email,
    challenge,
    timeout: TIMEOUT_MS,
    attestationType: "none",
    excludeCredentials: known.map(descriptorOf),
    authenticatorSelection: { residentKey: "preferred", userVerification: "required" },
    supportedAlgorithmIDs: ALGORITHMS,
  });
}

/** @returns the options of `navigator.credentials.get()` as JSON, for the passkeys of one user */
export async function requestOptions(options: {
  party: RelyingParty;
  challenge: string;
  known: readonly PasskeyRow[];
}): Promise<object> {
  const { generateAuthenticationOptions } = await library();
  return await generateAuthenticationOptions({
    rpID: options.party.id,
    challenge: options.challenge,
    timeout: TIMEOUT_MS,
    allowCredentials: options.known.map(descriptorOf),
    userVerification: "required",
  });
}

/**
 * @param text response of the browser as JSON
 * @throws DomainError `second_factor.passkey_refused`
 */
export async function verifyCreation(
  text: string,
  { party, isChallenge }: Expected,
): Promise<CreatedPasskey> {
  const credential = readCreatedPasskey(text);
  if (!credential) throw passkeyRefused();
  const { decodeAttestationObject, decodeClientDataJSON, isoBase64URL, verifyRegistrationResponse } =
    await library();
  try {
    const { attestationObject, clientDataJSON } = credential.response;
    const attestation = decodeAttestationObject(isoBase64URL.toBuffer(attestationObject));
    if (!FORMATS.includes(attestation.get("fmt")) || attestation.get("attStmt").get("x5c") !== undefined)
      throw new Error("certificates are not accepted");
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...credential,
        response: { attestationObject, clientDataJSON },
        clientExtensionResults: {},
      },
      expectedChallenge: isChallenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified) throw passkeyRefused();
    const { id, publicKey, counter } = registrationInfo.credential;
    return {
      credentialId: id,
      publicKey: isoBase64URL.fromBuffer(publicKey),
      counter,
      transports: (credential.response.transports ?? []).join(" "),
      challenge: decodeClientDataJSON(clientDataJSON).challenge,
    };
  } catch (cause) {
    throw passkeyRefused(cause); // the library throws a plain Error for everything wrong with a response
  }
}

/** A correct response to a challenge. */
export interface UsedPasskey {
  passkey: PasskeyRow;
  /** the new signature counter */
  counter: number;
  /** in base64url, as the client sent it */
  challenge: string;
}

/**
 * @param known the passkeys of the user
 * @throws DomainError `access.second_factor_wrong`
 */
export async function verifyUse(
  text: string,
  { party, isChallenge, known }: Expected & { known: readonly PasskeyRow[] },
): Promise<UsedPasskey> {
  const credential = readUsedPasskey(text);
  const passkey = known.find(({ credentialId }) => credentialId === credential?.id);
  if (!credential || !passkey) throw passkeyWrong();
  const { decodeClientDataJSON, isoBase64URL, verifyAuthenticationResponse } = await library();
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...credential, clientExtensionResults: {} },
      expectedChallenge: isChallenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      credential: {
        id: passkey.credentialId,
        publicKey: isoBase64URL.toBuffer(passkey.publicKey),
        counter: passkey.counter,
      },
      requireUserVerification: true,
    });
    if (!verified) throw passkeyWrong();
    const { challenge } = decodeClientDataJSON(credential.response.clientDataJSON);
    return { passkey, counter: authenticationInfo.newCounter, challenge };
  } catch (cause) {
    throw passkeyWrong(cause); // as in verifyCreation
  }
}

/** Unknown transports are dropped, because they are only hints for the browser. */
const TRANSPORTS: readonly AuthenticatorTransport[] = ["ble", "hybrid", "internal", "nfc", "usb"];

const descriptorOf = ({ credentialId, transports }: PasskeyRow) => {
  const named = transports.split(" ");
  return { id: credentialId, transports: TRANSPORTS.filter((transport) => named.includes(transport)) };
};
