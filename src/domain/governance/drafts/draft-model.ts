// Shapes and limits of a draft: the changes of one administrator before they are published (handbook: console, Drafts).
import type { Problem } from "../../../platform/errors.ts";
import type { HarnessKey } from "../../harnesses/harnesses.ts";
import type { GovernanceConfig, PackageAudiences } from "../model.ts";
import type { HarnessPublication } from "../publishing/publications.ts";

/** Days after its last save until a draft is removed. */
export const DRAFT_DAYS_MAX = 30;

/** What an administrator enters for one harness. */
export type HarnessInput = Pick<
  HarnessPublication,
  "managedConfigYaml" | "versionRequirement" | "allowUnverifiedVersions" | "isAllowed"
>;

/** A text as it was typed. It is kept with its comments, and also if it is invalid. */
export interface Typed<Input> {
  input: Input;
  /** with lines; empty if the document of the draft equals the text */
  problems: readonly Problem[];
}

export interface TypedTexts {
  /** the policy without packages, MCP servers and overrides, as YAML */
  policy?: Typed<string>;
  harnesses: { readonly [Key in HarnessKey]?: Typed<HarnessInput> };
  /** number of the revision whose content the draft has, until the next change */
  former?: number;
}

/** The content of a draft. */
export interface DraftContent {
  /** stamped; the last one that was valid */
  document: GovernanceConfig;
  audiences: PackageAudiences;
  typed: TypedTexts;
}

export interface Draft extends DraftContent {
  id: string;
  organizationId: string;
  /** id of the administrator who writes it */
  ownerId: string;
  /** id of the revision that it began from */
  baseRevision: string;
  /** whether other administrators may read and publish it */
  isShared: boolean;
  /** grows by one with each save */
  version: number;
  createdAtMs: number;
  savedAtMs: number;
  /** places that differ from the revision that it began from, without stamps; null if an older version of the service saved it */
  changes: number | null;
}

/** Shown to readers of the document while a text of the draft has problems. */
export const LAST_VALID_TEXT =
  "a text of the draft has problems; its last version without problems is used instead";

/** Shown before a draft with comments is merged. */
export const COMMENTS_LOST = "a merge writes its text anew, without the comments";

/** @returns whether a text that was typed has what may be a comment; a mark inside of a text counts, too */
export const mayHaveComments = ({ policy, harnesses }: TypedTexts): boolean =>
  [policy?.input, ...Object.values(harnesses).map(({ input }) => input.managedConfigYaml)].some(
    (text) => text !== undefined && /(?:^|[ \t])#/m.test(text),
  );

/** @returns the problems of every text that was typed */
export const typedProblems = ({ policy, harnesses }: TypedTexts): Problem[] => [
  ...(policy?.problems ?? []),
  ...Object.values(harnesses).flatMap(({ problems }) => problems),
];

/** What the author has read. */
export interface StatedVersion {
  /** version of the draft; 0 if there was none */
  version: number;
  /** if there was no draft: id of the revision from which it begins, by default the current one */
  baseRevision?: string | undefined;
}
