// The navigation of the console: groups of pages, who may open them, and which feature they need. Pages that are not listed here
// are linked from other pages.

/** Who may open a page. */
export type Needs = "anyone" | "administrator";

interface NavigationLink {
  href: string;
  label: string;
  /** omitted: always */
  feature?: Feature;
}

export interface NavigationGroup {
  label: string;
  needs: Needs;
  /** omitted: always */
  feature?: Feature;
  links: readonly NavigationLink[];
}

/** Parts of the service that an installation may have turned off. */
export type Feature = "sessions" | "gateway";

/** Path of the console. */
export const CONSOLE = "/console";
/** Path of every browser file of the console, without its name. */
export const CONSOLE_ASSETS_PATH = "/assets/console";

const GROUPS: readonly NavigationGroup[] = [
  {
    label: "Organization",
    needs: "administrator",
    links: [{ href: CONSOLE, label: "Overview" }],
  },
  {
    label: "Mine",
    needs: "anyone",
    links: [
      { href: `${CONSOLE}/me`, label: "Start page" },
      { href: `${CONSOLE}/me/policy`, label: "My policy" },
      { href: `${CONSOLE}/me/workstations`, label: "My workstations" },
      { href: `${CONSOLE}/me/key`, label: "My gateway key", feature: "gateway" },
      { href: `${CONSOLE}/me/logins`, label: "My logins" },
      { href: `${CONSOLE}/me/account`, label: "My account" },
    ],
  },
  {
    label: "Sessions",
    needs: "anyone",
    feature: "sessions",
    links: [{ href: `${CONSOLE}/sessions`, label: "Captured sessions" }],
  },
  {
    label: "Fleet",
    needs: "administrator",
    links: [{ href: `${CONSOLE}/clients`, label: "Workstations" }],
  },
  {
    label: "Policy",
    needs: "administrator",
    links: [
      { href: `${CONSOLE}/policy`, label: "Policy" },
      { href: `${CONSOLE}/harnesses`, label: "Harnesses" },
      { href: `${CONSOLE}/policy/explain`, label: "Explain" },
      { href: `${CONSOLE}/policy/history`, label: "History" },
    ],
  },
  {
    label: "Extensions",
    needs: "administrator",
    links: [
      { href: `${CONSOLE}/packages`, label: "Packages" },
      { href: `${CONSOLE}/catalog`, label: "Catalog" },
      { href: `${CONSOLE}/connections`, label: "Repository connections" },
      { href: `${CONSOLE}/mcp`, label: "MCP servers" },
    ],
  },
  {
    label: "People",
    needs: "administrator",
    links: [
      { href: `${CONSOLE}/users`, label: "Users" },
      { href: `${CONSOLE}/invitations`, label: "Invitations" },
      { href: `${CONSOLE}/groups`, label: "Groups" },
      { href: `${CONSOLE}/logins`, label: "Logins" },
    ],
  },
  {
    label: "Gateway",
    needs: "administrator",
    feature: "gateway",
    links: [
      { href: `${CONSOLE}/gateway`, label: "Gateway" },
      { href: `${CONSOLE}/gateway/keys`, label: "Gateway keys" },
      { href: `${CONSOLE}/gateway/models`, label: "Models" },
      { href: `${CONSOLE}/gateway/requests`, label: "Requests" },
    ],
  },
  {
    label: "Identity",
    needs: "administrator",
    links: [{ href: `${CONSOLE}/identity`, label: "Sign-in and provisioning" }],
  },
  {
    label: "System",
    needs: "administrator",
    links: [
      { href: `${CONSOLE}/system`, label: "Installation" },
      { href: `${CONSOLE}/system/jobs`, label: "Jobs" },
      { href: `${CONSOLE}/system/backups`, label: "Backups" },
      { href: `${CONSOLE}/system/keys`, label: "Keys" },
      { href: `${CONSOLE}/system/settings`, label: "Settings" },
      { href: `${CONSOLE}/system/export`, label: "Export" },
      { href: `${CONSOLE}/branding`, label: "Branding" },
      { href: `${CONSOLE}/audit`, label: "Audit log" },
    ],
  },
];

/** @returns the groups that this reader may open and this installation has */
export function navigationFor(readsAll: boolean, has: (feature: Feature) => boolean): NavigationGroup[] {
  const isThere = ({ feature }: { feature?: Feature }) => feature === undefined || has(feature);
  return GROUPS.filter((group) => (group.needs === "anyone" || readsAll) && isThere(group)).map((group) => ({
    ...group,
    links: group.links.filter(isThere),
  }));
}

/** @returns whether the link leads to the page or to one of the pages below it */
export const isCurrent = (href: string, path: string): boolean =>
  path === href || (!PARENTS.includes(href) && path.startsWith(`${href}/`));

/** @returns the closest page of the navigation above this path; undefined for none */
export const pageAbove = (path: string): NavigationLink | undefined =>
  GROUPS.flatMap(({ links }) => links)
    .filter(({ href }) => href !== CONSOLE && path.startsWith(`${href}/`))
    .sort((one, other) => other.href.length - one.href.length)[0];

/** Pages below these have their own links. */
const PARENTS: readonly string[] = [
  CONSOLE,
  `${CONSOLE}/me`,
  `${CONSOLE}/gateway`,
  `${CONSOLE}/policy`,
  `${CONSOLE}/system`,
];
