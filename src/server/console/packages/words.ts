// Addresses and sentences of the pages about packages and the catalog.
import type { PackageKind } from "../../../domain/catalog/service.ts";
import type { CatalogView, PackageAudience, PackageView } from "../../../domain/governance/service.ts";
import { CONSOLE } from "../frame/navigation.ts";
import { andText } from "../own/words.ts";
import type { Tone } from "../parts/values.tsx";

export const PACKAGES_PATH = `${CONSOLE}/packages`;
export const CATALOG_PATH = `${CONSOLE}/catalog`;
export const CONNECTIONS_PATH = `${CONSOLE}/connections`;
export const IMPORT_PATH = `${CATALOG_PATH}/import`;
export const PLAN_PATH = `${IMPORT_PATH}/plan`;

/** Ids that collide with addresses of other pages; escaping a letter distinguishes them. */
const OTHER_PAGES = new Set(["new", "import"]);

const segmentOf = (id: string): string =>
  OTHER_PAGES.has(id) ? `%${id.charCodeAt(0).toString(16)}${id.slice(1)}` : id;

/** @returns the path of a package's page */
export const packagePath = (id: string): string => `${PACKAGES_PATH}/${segmentOf(id)}`;

/** @returns the path of the page of a package that the catalog offers */
export const catalogPath = (id: string): string => `${CATALOG_PATH}/${segmentOf(id)}`;

/** @returns the path of the form for the audience of a package */
export const audiencePath = (id: string): string => `${packagePath(id)}/audience`;

export const KIND_WORDS: Readonly<Record<PackageKind, string>> = {
  skills: "Skills",
  agents: "Agents",
  hooks: "Hooks",
  plugins: "Plugins",
  helpers: "Helpers",
};

export const DRAFT_WORDS: Readonly<Record<PackageView["draft"], { label: string; tone: Tone }>> = {
  same: { label: "Published", tone: "good" },
  added: { label: "New in your draft", tone: "attention" },
  changed: { label: "Changed in your draft", tone: "attention" },
  removed: { label: "Removed in your draft", tone: "attention" },
};

export const OFFER_WORDS: Readonly<Record<CatalogView["offer"], { label: string; tone: Tone }>> = {
  new: { label: "Not in the policy", tone: "neutral" },
  update: { label: "Other version than in the policy", tone: "attention" },
  taken: { label: "As in the policy", tone: "good" },
};

export const ARCHIVE_WORDS = {
  here: "Stored here, digest checked",
  elsewhere: "Elsewhere, not checked",
} as const;

/**
 * @param textOf writes a number; without grouping by default, for files
 * @returns who gets a package: `Everybody`, `12 people and 1 group`
 */
export function audienceText(
  { scope, user_ids: users, group_ids: groups = [] }: PackageAudience,
  textOf: (number: number) => string = String,
): string {
  if (scope === "organization") return "Everybody";
  const counted = (number: number, one: string, many: string) =>
    number === 0 ? [] : [`${textOf(number)} ${number === 1 ? one : many}`];
  return andText([
    ...counted(users.length, "person", "people"),
    ...counted(groups.length, "group", "groups"),
  ]);
}

/** @returns the version that the catalog offers */
export const updateText = (version: string, update: { version: string }): string =>
  update.version === version ? "another archive" : update.version;
