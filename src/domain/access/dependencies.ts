// What access needs from other areas, supplied by domain.ts.
import type { Connection } from "../../platform/database/database.ts";

/**
 * Users must periodically confirm at their identity provider that they still belong to the organization; sso provides the check.
 * @returns whether the last confirmation still counts; always true for users without a provider
 */
export type IsConfirmed = (connection: Connection, user: { userId: string; nowMs: number }) => boolean;
