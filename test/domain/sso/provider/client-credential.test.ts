// Which private keys are accepted for the authentication of this client.
import { expect, test } from "bun:test";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { clientKeyProblem } from "../../../../src/domain/sso/provider/client/client-credential.ts";
import { Secret } from "../../../../src/platform/secret.ts";

const pemOf = (key: KeyObject): string =>
  key.export({ type: key.type === "private" ? "pkcs8" : "spki", format: "pem" }).toString();
const rsa = (modulusLength: number) => generateKeyPairSync("rsa", { modulusLength });
const curve = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve });

const KEYS: Record<string, [pem: () => string, isAccepted: boolean]> = {
  "of Ed25519": [() => pemOf(generateKeyPairSync("ed25519").privateKey), true],
  "of P-256": [() => pemOf(curve("P-256").privateKey), true],
  "of RSA with 2048 bits": [() => pemOf(rsa(2048).privateKey), true],
  "of RSA with 1024 bits": [() => pemOf(rsa(1024).privateKey), false],
  "of P-384": [() => pemOf(curve("P-384").privateKey), false],
  "of X25519": [() => pemOf(generateKeyPairSync("x25519").privateKey), false],
  "that is public": [() => pemOf(curve("P-256").publicKey), false],
  "that is not a key": [() => "no key", false],
};

test.each(Object.entries(KEYS))("a client key %s", (_, [pem, isAccepted]) => {
  const problem = clientKeyProblem(new Secret(pem()));
  expect(problem).toEqual(isAccepted ? undefined : expect.stringContaining("must be a private key in PEM"));
});
