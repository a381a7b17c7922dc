// The signing keys of a lying identity provider: real keys, and tokens whose signature is wrong in a chosen way.
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from "node:crypto";
import { CompactSign, exportJWK, exportSPKI, type JWK } from "jose";
import { type Faults, overridden } from "./faults.ts";

export type TokenAlgorithm = "RS256" | "PS256" | "ES256" | "EdDSA";

interface Key {
  kid: string;
  privateKey: KeyObject;
}

const makePrivateKey = (algorithm: TokenAlgorithm): KeyObject => {
  if (algorithm === "ES256") return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  if (algorithm === "EdDSA") return generateKeyPairSync("ed25519").privateKey;
  return generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
};

export class ProviderKeys {
  #current: Key;
  /** ids are published with the keys and used in tokens */
  namesKeys = true;

  constructor(readonly algorithm: TokenAlgorithm) {
    this.#current = this.#made();
  }

  /** Replaces the key immediately. @returns the id of the new one */
  rotate(kid: string = randomUUID()): string {
    this.#current = { ...this.#made(), kid };
    return kid;
  }

  async published(): Promise<{ keys: JWK[] }> {
    const { kid, privateKey } = this.#current;
    const jwk = await exportJWK(createPublicKey(privateKey));
    return { keys: [{ ...jwk, use: "sig", alg: this.algorithm, ...(this.namesKeys && { kid }) }] };
  }

  /** @param typ of the header @returns a compact JWS, wrong in the ways of the faults */
  async sign(
    claims: Readonly<Record<string, unknown>>,
    { typ, faults, secret }: { typ: string; faults: Faults; secret: string },
  ): Promise<string> {
    const { kid, privateKey } = this.#current;
    const honest = { alg: this.algorithm, typ, ...(this.namesKeys && { kid }) };
    const header = overridden(honest, faults.header);
    const payload = JSON.stringify(claims);
    switch (faults.signature) {
      case "none":
        return `${encoded({ ...header, alg: "none" })}.${Buffer.from(payload).toString("base64url")}.`;
      case "hs256":
        return withSecret({ ...header, alg: "HS256" }, payload, secret);
      case "public_key_as_secret":
        return withSecret({ ...header, alg: "HS256" }, payload, await this.#publicPem());
      default: {
        const key = faults.signature === "foreign" ? makePrivateKey(this.algorithm) : privateKey;
        return await new CompactSign(Buffer.from(payload))
          .setProtectedHeader({ ...header, alg: this.algorithm })
          .sign(key, { crit: { "example-extension": true } });
      }
    }
  }

  async #publicPem(): Promise<string> {
    return await exportSPKI(createPublicKey(this.#current.privateKey));
  }

  #made(): Key {
    return { kid: randomUUID(), privateKey: makePrivateKey(this.algorithm) };
  }
}

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function withSecret(header: object, payload: string, secret: string): string {
  const input = `${encoded(header)}.${Buffer.from(payload).toString("base64url")}`;
  return `${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`;
}
