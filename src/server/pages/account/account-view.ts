// Collects the content of the account settings for one signed-in user from access, clients and gateway. account/account.tsx
// renders it.
import { readLoginQuery } from "../../../domain/access/logins/login-document.ts";
import type { LoginPage, LoginView } from "../../../domain/access/logins/logins.ts";
import type { FactorsView } from "../../../domain/access/second-factor/second-factors.ts";
import { PASSWORD_LENGTH_MIN } from "../../../domain/identity/users/passwords.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Browser, Visitor } from "../../auth/browser.ts";
import { actorOf } from "../../http/exchange.ts";
import type { RouteContext } from "../../router.ts";
import type { AccountSettingsProps, AdminLink, LoginCounts } from "./account.tsx";
import type { BrowserRow, Rows, WorkstationRow } from "./account-logins.tsx";
import type { PasswordError } from "./password-fields.tsx";

export const ACCOUNT_PATH = "/account";
/** Rows per list and page. */
export const ROWS_SHOWN = 10;

/** Each link works for a signed-in administrator, even before anything is published. */
const ADMIN_LINKS: readonly AdminLink[] = [
  { href: "/admin/users", name: "Users" },
  { href: "/admin/invitations", name: "Invitations" },
  { href: "/admin/logins", name: "Logins" },
  { href: "/admin/client-status", name: "Workstations" },
  { href: "/admin/harnesses/managed-configs", name: "Harness settings" },
  { href: "/admin/governance-config", name: "Policy in force" },
  { href: "/admin/governance-config/revisions", name: "Policy revisions" },
  { href: "/admin/package-catalog", name: "Package catalog" },
  { href: "/admin/blue-config/export", name: "Configuration export" },
  { href: "/admin/identity/status", name: "Identity and provisioning" },
  { href: "/metrics", name: "Metrics" },
  { href: "/health/dependencies", name: "Health of the parts" },
  { href: "/ready", name: "Readiness" },
  { href: "/openapi.json", name: "API description (OpenAPI)" },
];

/** Confirms a new password. */
export const PASSWORD_CHANGED =
  "Your password was changed, and every other browser was signed out. Workstations stay signed in; those that were approved in another browser must sign in again to use the gateway.";

/** Confirmation texts by the keyword in the redirect's query. */
const NOTICES = {
  password: PASSWORD_CHANGED,
  login: "The login has ended.",
  key: "The current state of your gateway key is shown below.",
} as const;
type AccountAction = keyof typeof NOTICES;
const SECTIONS: Readonly<Partial<Record<AccountAction, string>>> = { key: "#gateway-key" };

/** @returns the path of the account settings with the confirmation of an action */
export const accountPathAfter = (action: AccountAction): string =>
  `${ACCOUNT_PATH}?done=${action}${SECTIONS[action] ?? ""}`;

/** @returns the confirmation text; undefined for an unknown keyword */
export const noticeOf = (word: string | undefined): string | undefined =>
  Object.entries(NOTICES).find(([action]) => action === word)?.[1];

export interface AccountQuery {
  /** id of the last browser on the previous page */
  browsers?: string | undefined;
  /** id of the last workstation on the previous page */
  workstations?: string | undefined;
}

interface Shown {
  query: AccountQuery;
  notice?: string | undefined;
  passwordError?: PasswordError | undefined;
}

/** @returns the functions that collect the content; create them once */
export function createAccountView({ domain }: Pick<RouteContext, "domain">, browser: Browser) {
  const { ownLogins, passwordChanges, ownFactors } = domain.access;

  const counts = (request: Request): LoginCounts => {
    const { loginSessions: browsers, grants: workstations } = ownLogins.count(actorOf(request));
    return { browsers, workstations };
  };

  const { browserRows, workstationRows } = createLoginRows(domain);

  return {
    counts,

    /** @throws DomainError `logins.invalid` for a malformed cursor */
    settings(
      request: Request,
      visitor: Visitor,
      { query, notice, passwordError }: Shown,
    ): AccountSettingsProps {
      const { email, role, userId: id } = visitor.principal;
      return {
        email,
        role,
        csrf: visitor.csrf,
        notice,
        ...(passwordChanges.hasPassword(actorOf(request)) && {
          password: { minimumLength: PASSWORD_LENGTH_MIN, error: passwordError },
        }),
        secondFactors: factorsIn(ownFactors.view(actorOf(request))),
        counts: counts(request),
        browsers: browserRows(request, visitor, query),
        workstations: workstationRows(request, query),
        gatewayKey: domain.gateway.keys.status({ id, email }),
        adminLinks: role === "admin" ? ADMIN_LINKS : [],
        branding: browser.branding(),
      };
    },
  };
}

/** @returns the functions that collect the rows of the two lists of logins */
function createLoginRows({ access: { ownLogins }, clients, sso }: RouteContext["domain"]) {
  const browserRows = (request: Request, visitor: Visitor, query: AccountQuery): Rows<BrowserRow> => {
    const page = listed(request, "login_session", query.browsers);
    const approved = ownLogins.countApproved(page.items.map(({ id }) => id));
    const rows = page.items.map((login) => ({
      ...timesOf(login),
      id: login.id,
      userAgent: login.userAgent,
      address: login.address,
      signedInAt: toRfc3339(login.createdAtMs),
      through: login.method === "oidc" ? sso.settings()?.providerName : undefined,
      approved: approved.get(login.id) ?? 0,
      isCurrent: login.id === visitor.sessionId,
    }));
    return { rows, ...pagesOf(page, "browsers", query) };
  };

  const workstationRows = (request: Request, query: AccountQuery): Rows<WorkstationRow> => {
    const page = listed(request, "grant", query.workstations);
    const { organizationId, id: userId } = actorOf(request);
    const grantIds = page.items.map(({ id }) => id);
    const reporters = clients.inventory.reporters({ organizationId, userId: userId ?? "", grantIds });
    const rows = page.items.map((login) => {
      const reporter = reporters.get(login.id);
      return {
        ...timesOf(login),
        id: login.id,
        hostname: reporter?.hostname ?? null,
        software: reporter ? softwareOf(reporter) : null,
        address: login.address,
        approvedAt: toRfc3339(login.createdAtMs),
      };
    });
    return { rows, ...pagesOf(page, "workstations", query) };
  };

  const listed = (request: Request, kind: string, cursor: string | undefined): LoginPage =>
    ownLogins.list(actorOf(request), readLoginQuery({ kind, cursor, limit: String(ROWS_SHOWN) }));

  return { browserRows, workstationRows };
}

/** @returns the number of second factors; undefined if the account cannot have one */
export const factorsIn = (view: FactorsView | undefined): number | undefined =>
  view && view.passkeys.length + (view.authenticatorApp ? 1 : 0);

const timesOf = ({ usedAtMs, expiresAtMs }: LoginView) => ({
  usedAt: usedAtMs === null ? null : toRfc3339(usedAtMs),
  expiresAt: toRfc3339(expiresAtMs),
});

const softwareOf = ({
  platform,
  architecture,
  clientVersion,
}: {
  platform: string;
  architecture: string | null;
  clientVersion: string;
}): string => `${[platform, architecture].filter(Boolean).join(" ")}, client ${clientVersion}`;

/** Keeps the other list on its current page. */
function pagesOf({ next }: LoginPage, list: keyof AccountQuery, query: AccountQuery) {
  return {
    older: next === null ? null : pathOf({ ...query, [list]: next }, list),
    newest: query[list] === undefined ? null : pathOf({ ...query, [list]: undefined }, list),
  };
}

/** @returns the path of the account settings at these list positions */
export function pathOf(query: AccountQuery, fragment?: string): string {
  const { browsers, workstations } = query;
  const parameters = new URLSearchParams({
    ...(browsers && { browsers }),
    ...(workstations && { workstations }),
  });
  const search = parameters.size > 0 ? `?${parameters}` : "";
  return `${ACCOUNT_PATH}${search}${fragment === undefined ? "" : `#${fragment}`}`;
}
