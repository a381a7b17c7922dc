// What access needs from other areas, supplied by domain.ts.
import type { Connection } from "../../platform/database/database.ts";

/**
 * Users must confirm at their identity provider from time to time that they still belong to the organization; sso provides it.
 * @returns whether the last confirmation still counts, as it always does for users without a provider
 */
export type IsConfirmed = (connection: Connection, user: { userId: string; nowMs: number }) => boolean;
