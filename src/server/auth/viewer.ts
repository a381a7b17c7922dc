// Converts the caller of a route to the viewer of captured sessions.
import type { Viewer } from "../../domain/sessions/service.ts";
import { principalOf } from "../http/exchange.ts";
import { ADMINISTRATOR_SCOPE } from "./guard.ts";

/** @returns the caller of a guarded route; an administrator's token also needs the scope that the guard requires of
 * administrators */
export function viewerOf(request: Request): Viewer {
  const { userId, organizationId, role, scopes } = principalOf(request);
  return { userId, organizationId, isAdministrator: role === "admin" && scopes.has(ADMINISTRATOR_SCOPE) };
}
