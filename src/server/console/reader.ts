// Who reads a console page, and with which preferences: account, role, time zone, color scheme, language of numbers. Every page
// gets a Reader.
import type { AuditRow } from "../../domain/audit/chain.ts";
import type { SavedView } from "../../domain/console/service.ts";
import type { Revision } from "../../domain/governance/model.ts";
import type { Actor } from "../../domain/shared/actor.ts";
import type { Visitor } from "../auth/browser.ts";

/** Cookie that the console's script sets: an IANA time zone. */
const ZONE_COOKIE = "quartermaster_zone";
/** Cookie with the color scheme that the reader chose. */
export const THEME_COOKIE = "quartermaster_theme";
export const THEMES = ["light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** Longer names of a time zone or language are ignored. */
const LOCALE_CHARACTERS = 64;

export interface Reader {
  request: Request;
  url: URL;
  /** public origin of the service */
  origin: string;
  visitor: Visitor;
  actor: Actor;
  organizationId: string;
  /** reads the pages of administrators: an administrator, or an auditor (setting `console.auditors`) */
  readsAll: boolean;
  /** whether the reader may change everything: an administrator who is not an auditor */
  mayAdminister: boolean;
  /** masked CSRF token for the forms of this page */
  csrf: string;
  nowMs: number;
  /** IANA name; UTC until the script has set the cookie */
  zone: string;
  /** undefined for the scheme of the system */
  theme: Theme | undefined;
  /** BCP 47 tag for the grouping of numbers */
  language: string;
  /** the reader's own views, and shared views for readers of administrators' pages */
  savedViews(): readonly SavedView[];
  /** @returns columns and rows that the reader keeps for a list, as a query; undefined for none */
  usual(path: string): string | undefined;
  /** @returns when the reader's draft was saved last, and the revision in force; undefined for none */
  policyState(): {
    draftSavedAtMs: number | undefined;
    revision: Pick<Revision, "sequence" | "authorLabel" | "createdAtMs"> | undefined;
  };
  /** @returns the page of the target of an audit entry; undefined if there is none */
  targetPage(entry: Pick<AuditRow, "action" | "target">): string | undefined;
}

/** @returns the time zone of the cookie; UTC if it is missing or unknown */
export function timeZoneOf(request: Request): string {
  const zone = cookieOf(request, ZONE_COOKIE);
  return zone !== undefined && isKnownZone(zone) ? zone : "UTC";
}

/** @returns the chosen color scheme */
export const themeOf = (request: Request): Theme | undefined => {
  const chosen = cookieOf(request, THEME_COOKIE);
  return THEMES.find((theme) => theme === chosen);
};

/** @returns the browser's first language that the runtime can format numbers for */
export function languageOf({ headers }: Request): string {
  const [first = ""] = (headers.get("accept-language") ?? "").split(/[,;]/, 1);
  const language = first.trim();
  if (language.length > LOCALE_CHARACTERS || !/^[A-Za-z]{2,3}(?:-[A-Za-z\d]{2,8})*$/.test(language))
    return "en-US";
  try {
    return Intl.NumberFormat.supportedLocalesOf(language)[0] ?? "en-US";
  } catch {
    return "en-US";
  }
}

function isKnownZone(zone: string): boolean {
  if (zone.length > LOCALE_CHARACTERS) return false;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

const cookieOf = ({ headers }: Request, name: string): string | undefined =>
  new Bun.CookieMap(headers.get("cookie") ?? "").get(name) ?? undefined;
