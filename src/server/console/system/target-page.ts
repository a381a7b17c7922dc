// Finds the page of an audit entry's target. A target that no longer exists has none, so its name or id is plain text.
import { LOGIN_KINDS } from "../../../domain/access/logins/login-document.ts";
import type { Domain } from "../../../domain/domain.ts";
import type { Viewer } from "../../../domain/sessions/service.ts";
import { DomainError } from "../../../platform/errors.ts";
import { isOwnId } from "../../../platform/ids.ts";
import { CONSOLE } from "../frame/navigation.ts";
import { keyPath } from "../gateway/words.ts";
import { TOKENS_PATH } from "../identity/words.ts";
import { GROUPS_PATH, INVITATIONS_PATH, loginPath, userPath } from "../people/words.ts";
import { HISTORY_PATH } from "../policy/words.ts";
import type { Reader } from "../reader.ts";
import { sessionPath } from "../sessions/words.ts";

/** Pages of targets by kind, which is the first word of the action. */
const OF_KIND: ReadonlyMap<string, (target: string) => string> = new Map([
  ["branding", () => `${CONSOLE}/branding`],
  ["backup", () => `${CONSOLE}/system/backups`],
  ["gateway_signing_key", () => `${CONSOLE}/system/keys`],
  ["sealing_key", () => `${CONSOLE}/system/keys`],
  ["signing_key", () => `${CONSOLE}/system/keys`],
  ["job", (target: string) => `${CONSOLE}/system/jobs#row-${target}`],
  ["invitation", () => INVITATIONS_PATH],
  ["policy", (target: string) => `${HISTORY_PATH}/${target}`],
  ["scim_token", () => `${TOKENS_PATH}?show=all`],
]);

/** @returns the function for this viewer */
export function createTargetPage(
  {
    scim,
    identity,
    gateway,
    sessions,
    access,
  }: Pick<Domain, "scim" | "identity" | "gateway" | "sessions" | "access">,
  viewer: Viewer,
): Reader["targetPage"] {
  const { organizationId } = viewer;
  return ({ action, target }) => {
    const kind = action.split(".", 1)[0] ?? "";
    const page = OF_KIND.get(kind);
    if (page) return page(encodeURIComponent(target));
    if (!isOwnId(target)) return undefined;
    if (kind === "scim_group")
      return exists(() => scim.directory.show(organizationId, target))
        ? `${GROUPS_PATH}/${target}`
        : undefined;
    if (kind === "captured_session" && exists(() => sessions.find(viewer, target)))
      return sessionPath(target);
    if (LOGIN_KINDS.some((login) => login === kind))
      return exists(() => access.logins.show(target)) ? loginPath(target) : undefined;
    if (!exists(() => identity.users.show(organizationId, target))) return undefined;
    return kind === "gateway_key" && gateway.mode !== undefined ? keyPath(target) : userPath(target);
  };
}

function exists(find: () => unknown): boolean {
  try {
    find();
    return true;
  } catch (error) {
    if (error instanceof DomainError && error.kind === "not_found") return false;
    throw error;
  }
}
