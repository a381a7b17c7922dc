// Shared facts of both sides of oauth.ts: the client, its scopes, and the number of seeded rows.
import { OAUTH_CLIENT_ID, REQUESTABLE_SCOPES } from "../../../src/domain/access/wire.ts";

export const CLIENT_ID = OAUTH_CLIENT_ID;
export const SCOPES: readonly string[] = REQUESTABLE_SCOPES;

export const CONNECTIONS = 32;
export const ROUNDS = 5;
/** Uncounted rounds: the more code a server has, the longer it takes to compile, and both servers compile during the first ones. */
export const WARM_UPS = 3;
/** More than are polled in a round, so that no poll comes too early. */
export const DEVICE_CODES = 30_000;
/** Each connection of each round rotates its own refresh token. */
export const FAMILIES = CONNECTIONS * (ROUNDS + WARM_UPS);

/** The data that a side creates before it is measured. */
export interface Seeds {
  deviceCodes: string[];
  refreshTokens: string[];
}
