// Shapes and limits of a draft: the changes of one administrator before they are published (handbook: console, Drafts).
import type { Problem } from "../../../platform/errors.ts";
import { HARNESS_KEYS, type HarnessKey } from "../../harnesses/harnesses.ts";
import type { GovernanceConfig, PackageAudiences } from "../model.ts";
import type { HarnessPublication } from "../publishing/publications.ts";

/** Days after its last save until a draft is removed. */
export const DRAFT_DAYS_MAX = 30;

/** An administrator's input for one harness. */
export type HarnessInput = Pick<
  HarnessPublication,
  "managedConfigYaml" | "versionRequirement" | "allowUnverifiedVersions" | "isAllowed"
>;

/** A text as it was typed. It keeps its comments, and may be invalid. */
export interface Typed<Input> {
  input: Input;
  /** with lines; empty if the document of the draft equals the text */
  problems: readonly Problem[];
}

export interface TypedTexts {
  /** the policy without packages, MCP servers and overrides, as YAML */
  policy?: Typed<string>;
  harnesses: { readonly [Key in HarnessKey]?: Typed<HarnessInput> };
  /** number of the revision whose content the draft equals, until the next change */
  former?: number;
}

export interface DraftContent {
  /** the last valid document, stamped */
  document: GovernanceConfig;
  audiences: PackageAudiences;
  typed: TypedTexts;
}

export interface Draft extends DraftContent {
  id: string;
  organizationId: string;
  /** id of its author, an administrator */
  ownerId: string;
  /** id of its base revision */
  baseRevision: string;
  /** whether other administrators may read and publish it */
  isShared: boolean;
  /** grows with each save; higher than in all earlier drafts of the organization */
  version: number;
  createdAtMs: number;
  savedAtMs: number;
  /** number of places that differ from the base revision, without stamps; null if an older version of the service saved it */
  changes: number | null;
}

/** Warning for readers of the document while a text of the draft has problems. */
export const LAST_VALID_TEXT =
  "a text of the draft has problems; its last version without problems is used instead";

/** Warning before a draft with comments is merged. */
export const COMMENTS_LOST = "a merge rewrites the text without its comments";

/** @returns whether a typed text may have a comment; a mark inside a value counts too */
export const mayHaveComments = ({ policy, harnesses }: TypedTexts): boolean =>
  [policy?.input, ...Object.values(harnesses).map(({ input }) => input.managedConfigYaml)].some(
    (text) => text !== undefined && /(?:^|[ \t])#/m.test(text),
  );

/** A text of a draft: of the policy without its extensions, or of one harness. */
export type TextName = "policy" | HarnessKey;

/** A problem of a text, with a pointer into the policy. */
export interface TypedProblem extends Problem {
  text: TextName;
}

export const isBroken = (typed: Typed<unknown> | undefined): boolean =>
  typed !== undefined && typed.problems.length > 0;

/** @returns the names of the texts with problems */
export const brokenTexts = ({ policy, harnesses }: TypedTexts): TextName[] => [
  ...(isBroken(policy) ? (["policy"] as const) : []),
  ...HARNESS_KEYS.filter((key) => isBroken(harnesses[key])),
];

/** @returns the problems of every typed text */
export const typedProblems = ({ policy, harnesses }: TypedTexts): TypedProblem[] => [
  ...(policy?.problems ?? []).map((problem) => ({ ...problem, text: "policy" as const })),
  ...HARNESS_KEYS.flatMap((key) => (harnesses[key]?.problems ?? []).map(inPolicy(key))),
];

/** Members of one harness; the problems of its form have pointers relative to them. */
const HARNESS_MEMBER =
  /^\/(?:managed_config_yaml|version_requirement|allow_unverified_versions|mcp|package_overrides|gateway_models)(?:\/|$)/;

const inPolicy =
  (harness: HarnessKey) =>
  (problem: Problem): TypedProblem => ({
    ...problem,
    text: harness,
    ...(HARNESS_MEMBER.test(problem.pointer)
      ? { pointer: `/harnesses/${harness}${problem.pointer}` }
      : { detail: `${problem.detail} (with the text of ${harness})` }),
  });

/** The versions that the author has read. */
export interface StatedVersion {
  /** version of the draft; 0 if there was none */
  version: number;
  /** if there was no draft: id of its base revision, by default the current one */
  baseRevision?: string | undefined;
}
