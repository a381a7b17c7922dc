// The rows of the keys that sign access tokens. Which key signs, and until when an old one verifies, is for signing-keys.ts.
import { signingKeyStore } from "../../shared/signing-key-store.ts";
import { signingKeys } from "../tables.ts";

export const accessKeyStore = signingKeyStore(signingKeys, "access");
