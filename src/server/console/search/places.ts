// Pages and actions that the search finds by their words. The list is static: pages of the navigation, and actions on them.

import { HITS_MAX } from "../../search/search.ts";
import { CONSOLE, type NavigationGroup } from "../frame/navigation.ts";

export interface Place {
  href: string;
  label: string;
  /** group of the page, or what the action belongs to */
  detail: string;
}

interface Action extends Place {
  /** page of the navigation; the action exists only if this page does */
  page: string;
}

const ACTIONS: readonly Action[] = [
  { page: `${CONSOLE}/audit`, href: `${CONSOLE}/audit`, label: "Verify the audit log", detail: "Audit log" },
  {
    page: `${CONSOLE}/audit`,
    href: `${CONSOLE}/audit.csv`,
    label: "Export the audit log as CSV",
    detail: "Audit log",
  },
  {
    page: `${CONSOLE}/clients`,
    href: `${CONSOLE}/clients?health=attention`,
    label: "Workstations that need attention",
    detail: "Workstations",
  },
  {
    page: `${CONSOLE}/clients`,
    href: `${CONSOLE}/clients?stale=true`,
    label: "Workstations not seen recently",
    detail: "Workstations",
  },
  {
    page: `${CONSOLE}/packages`,
    href: `${CONSOLE}/packages?update=true`,
    label: "Packages with an update",
    detail: "Packages",
  },
  {
    page: `${CONSOLE}/catalog`,
    href: `${CONSOLE}/catalog?offer=new`,
    label: "Add a package from the catalog",
    detail: "Catalog",
  },
  {
    page: `${CONSOLE}/users`,
    href: `${CONSOLE}/users?status=suspended`,
    label: "Suspended users",
    detail: "Users",
  },
  {
    page: `${CONSOLE}/system/backups`,
    href: `${CONSOLE}/system/backups`,
    label: "Make a backup",
    detail: "Backups",
  },
  {
    page: `${CONSOLE}/sessions`,
    href: `${CONSOLE}/sessions?whose=mine`,
    label: "My captured sessions",
    detail: "Sessions",
  },
  {
    page: `${CONSOLE}/sessions`,
    href: `${CONSOLE}/sessions?status=failed`,
    label: "Captured sessions with a failed upload",
    detail: "Sessions",
  },
  {
    page: `${CONSOLE}/mcp`,
    href: `${CONSOLE}/mcp/new`,
    label: "Add an MCP server",
    detail: "MCP servers",
  },
  { page: `${CONSOLE}/system/jobs`, href: `${CONSOLE}/system/jobs`, label: "Run a job", detail: "Jobs" },
];

const EVERYWHERE: readonly Place[] = [
  { href: `${CONSOLE}/help/keys`, label: "Keyboard", detail: "Help" },
  { href: "/help", label: "Handbook", detail: "Help" },
];

/**
 * @param views of the reader
 * @returns places whose label or group has every word; all pages for a blank text
 */
export function placesLike(
  q: string | undefined,
  navigation: readonly NavigationGroup[],
  views: readonly Place[] = [],
): readonly Place[] {
  const pages = navigation.flatMap(({ label: detail, links }) => links.map((link) => ({ ...link, detail })));
  const words = (q ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...pages, ...views, ...EVERYWHERE];
  const known = new Set(pages.map(({ href }) => href));
  const actions = ACTIONS.filter(({ page }) => known.has(page));
  const isLike = ({ label, detail }: Place): boolean => {
    const text = `${label} ${detail}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return [...pages, ...views, ...EVERYWHERE, ...actions].filter(isLike).slice(0, HITS_MAX);
}
