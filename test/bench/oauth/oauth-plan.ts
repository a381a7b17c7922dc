// What both sides of oauth.ts have to agree on: the client, its scopes, and how much is seeded.
import { OAUTH_CLIENT_ID, REQUESTABLE_SCOPES } from "../../../src/domain/access/wire.ts";

export const CLIENT_ID = OAUTH_CLIENT_ID;
export const SCOPES: readonly string[] = REQUESTABLE_SCOPES;

export const CONNECTIONS = 32;
export const ROUNDS = 5;
/** More than are polled in a round: no poll may come too early. */
export const DEVICE_CODES = 45_000;
/** Each connection of each round rotates a refresh token of its own. */
export const FAMILIES = CONNECTIONS * (ROUNDS + 1);

/** What a side made before it is measured. */
export interface Seeds {
  deviceCodes: string[];
  refreshTokens: string[];
}
