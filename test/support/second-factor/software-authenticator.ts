// A passkey authenticator in software with a real key: it responds to the options of the pages byte by byte as a
// browser would (W3C Web Authentication sections 6.1 and 6.5), and can lie on request.
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

const sha256 = (data: Uint8Array | string): Buffer => createHash("sha256").update(data).digest();
const encoded = (data: Uint8Array): string => Buffer.from(data).toString("base64url");

/** User present, user verified, attested credential data included. */
export const FLAGS = { present: 0x01, verified: 0x04, attested: 0x40 };

export interface Lie {
  origin?: string;
  rpId?: string;
  challenge?: string;
  flags?: number;
  counter?: number;
  /** replaces the text value "none" of the attestation and its empty statement, in CBOR */
  attestation?: Buffer;
}

interface Options {
  challenge: string;
  rpId?: string;
  rp?: { id?: string };
}

const isOptions = (value: object): value is Options =>
  "challenge" in value && typeof value.challenge === "string";

/** `{"fmt": "none", "attStmt": {}` without the map header, in CBOR. */
const NONE = Buffer.concat([
  Buffer.from("cfmt", "latin1"),
  Buffer.from("dnone", "latin1"),
  Buffer.from("gattStmt\xa0", "latin1"),
]);

/** @param origin of its browser */
export function createAuthenticator(origin: string) {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const id = randomBytes(32);
  let counter = 0;

  const head = (rpId: string, { flags, count }: { flags: number; count: number }): Buffer => {
    const bytes = Buffer.alloc(5);
    bytes.writeUInt8(flags);
    bytes.writeUInt32BE(count, 1);
    return Buffer.concat([sha256(rpId), bytes]);
  };
  const client = (type: string, challenge: string, lie: Lie): Buffer =>
    Buffer.from(
      JSON.stringify({ type, challenge: lie.challenge ?? challenge, origin: lie.origin ?? origin }),
    );
  const read = (options: object): { challenge: string; rpId: string } => {
    if (!isOptions(options)) throw new Error("these are not options for a passkey");
    return { challenge: options.challenge, rpId: options.rpId ?? options.rp?.id ?? "" };
  };
  const envelope = { id: encoded(id), rawId: encoded(id), type: "public-key", clientExtensionResults: {} };

  return {
    credentialId: encoded(id),

    /** @returns the result of `navigator.credentials.create()`, as JSON */
    create(options: object, lie: Lie = {}): string {
      const { challenge, rpId } = read(options);
      const key = Buffer.concat([
        Buffer.from("a5010203262001215820", "hex"),
        Buffer.from(x, "base64url"),
        Buffer.from("225820", "hex"),
        Buffer.from(y, "base64url"),
      ]);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const flags = lie.flags ?? FLAGS.present | FLAGS.verified | FLAGS.attested;
      const data = Buffer.concat([
        head(lie.rpId ?? rpId, { flags, count: counter }),
        ...[Buffer.alloc(16), length, id, key],
      ]);
      const size = Buffer.from([0x58, data.length]);
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        lie.attestation ?? NONE,
        Buffer.from("hauthData", "latin1"),
        ...[size, data],
      ]);
      const response = {
        clientDataJSON: encoded(client("webauthn.create", challenge, lie)),
        attestationObject: encoded(attestationObject),
        transports: ["internal", "hybrid"],
      };
      return JSON.stringify({ ...envelope, response });
    },

    /** @returns the result of `navigator.credentials.get()`, as JSON */
    get(options: object, lie: Lie = {}): string {
      const { challenge, rpId } = read(options);
      counter += 1;
      const flags = lie.flags ?? FLAGS.present | FLAGS.verified;
      const data = head(lie.rpId ?? rpId, { flags, count: lie.counter ?? counter });
      const clientData = client("webauthn.get", challenge, lie);
      const signature = sign("sha256", Buffer.concat([data, sha256(clientData)]), privateKey);
      const response = {
        clientDataJSON: encoded(clientData),
        authenticatorData: encoded(data),
        signature: encoded(signature),
      };
      return JSON.stringify({ ...envelope, response });
    },
  };
}
