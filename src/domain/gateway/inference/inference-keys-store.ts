// The rows of the keys that sign inference tokens. Which key signs, and until when an old one verifies, is for
// inference-keys.ts.
import { signingKeyStore } from "../../shared/signing-key-store.ts";
import { gatewaySigningKeys } from "../tables.ts";

export const inferenceKeyStore = signingKeyStore(gatewaySigningKeys, "gateway");
