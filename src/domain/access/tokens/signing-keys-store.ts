// The rows of the keys that sign access tokens. signing-keys.ts decides which key signs, and how long an old one verifies.
import { signingKeyStore } from "../../shared/signing-keys/signing-key-store.ts";
import { signingKeys } from "../tables.ts";

export const accessKeyStore = signingKeyStore(signingKeys, "access");
