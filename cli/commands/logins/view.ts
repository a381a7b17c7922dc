// Formats logins as table columns, text and JSON, without secrets or their hashes.
import { toLogin } from "../../../src/domain/access/logins/login-document.ts";
import type { EndedAccess, LoginView } from "../../../src/domain/access/service.ts";
import { countText } from "../../../src/platform/count-text.ts";
import { colorOf } from "../../output/color.ts";
import { dateOf, detailsText } from "../../output/details.ts";
import type { Column } from "../../output/table.ts";

export const LOGIN_COLUMNS: readonly Column<LoginView>[] = [
  { header: "KIND", value: ({ kind }) => kind },
  { header: "STATE", value: ({ state }) => state, color: ({ state }) => colorOf(state) },
  { header: "USER", value: ({ user }) => user?.email },
  { header: "METHOD", value: ({ method }) => method },
  { header: "ADDRESS", value: ({ address }) => address },
  { header: "USED", value: ({ usedAtMs }) => dateOf(usedAtMs) },
  { header: "EXPIRES", value: ({ expiresAtMs }) => new Date(expiresAtMs) },
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "CREATED", value: ({ createdAtMs }) => new Date(createdAtMs), isWide: true },
  { header: "ENDED", value: ({ endedAtMs }) => dateOf(endedAtMs), isWide: true },
  { header: "LOGIN SESSION", value: ({ loginSessionId }) => loginSessionId, isWide: true },
  { header: "SCOPES", value: ({ scopes }) => scopes.join(","), isWide: true },
  { header: "BROWSER", value: ({ userAgent }) => userAgent, isWide: true },
];

/** @returns every fact about a login, one per line */
export const loginText = (login: LoginView): string => {
  const { user, scopes, ...facts } = toLogin(login);
  return detailsText([
    ...Object.entries(facts).map(([name, value]) => [name.replaceAll("_", " "), value] as const),
    ["user", user?.email],
    ["scopes", scopes.join(" ")],
  ]);
};

/** @returns `1 login session, 2 grants`; kinds with a count of 0 are left out */
export const countsText = ({ loginSessions, grants, deviceLogins, passwordLinks }: EndedAccess): string =>
  [
    [loginSessions, "login session"] as const,
    [grants, "grant"] as const,
    [deviceLogins, "device login"] as const,
    [passwordLinks, "password link"] as const,
  ]
    .filter(([count]) => count > 0)
    .map(([count, word]) => countText(count, word))
    .join(", ");
