// Stores the keys that sign inference tokens. inference.ts decides which key signs and how long an old key verifies.
import { signingKeyStore } from "../../shared/signing-keys/signing-key-store.ts";
import { gatewaySigningKeys } from "../tables.ts";

export const inferenceKeyStore = signingKeyStore(gatewaySigningKeys, "gateway");
