// A signer of releases with its own key.
import { generateKeyPairSync } from "node:crypto";
import { type FileSigner, fileSigner } from "../../../src/platform/crypto/file-signatures.ts";
import { Secret } from "../../../src/platform/secret.ts";

export const newSigner = (): FileSigner =>
  fileSigner(
    new Secret(generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString()),
    "test key",
  );
