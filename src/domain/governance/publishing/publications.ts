// Reads publications of administrators, and maps places in the document to places in the request, so that problems refer to
// what the author wrote. publishing.ts publishes it and defines the order of checks.

import { DomainError, type Problem, pointerOf } from "../../../platform/errors.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";
import { ProblemList, quoted } from "../../../platform/text/problem-list.ts";
import type { YamlText } from "../../../platform/text/yaml-source.ts";
import { readYamlText } from "../../../platform/text/yaml-text.ts";
import { HARNESS_KEYS, isHarnessKey } from "../../harnesses/harnesses.ts";
import type { AudienceInput } from "../delivery/audiences.ts";
import { DOCUMENT_BYTES_MAX } from "../model.ts";

export interface Publication {
  /** id of the revision from which the author started */
  baseRevision: string;
  /** reason for the change, at most COMMENT_LENGTH_MAX characters */
  comment?: string | undefined;
}

export interface PolicyPublication extends Publication {
  /** YAML or JSON without packages, MCP servers and overrides */
  managedYaml: string;
}

/** Unchecked, except for the shape of the audiences. */
export interface ExtensionsPublication extends Publication {
  packages: readonly unknown[];
  packageAudiences?: Readonly<Record<string, AudienceInput>> | undefined;
  packageOverrides?: Readonly<Record<string, unknown>> | undefined;
  mcp?: Readonly<Record<string, unknown>> | undefined;
}

export interface HarnessPublication extends Publication {
  harness: string;
  /** a mapping; blank for no settings */
  managedConfigYaml: string;
  /** blank and null for none */
  versionRequirement?: string | null | undefined;
  allowUnverifiedVersions?: boolean | undefined;
  /** whether workstations may run it; undefined keeps the policy's value */
  isAllowed?: boolean | undefined;
}

/** Limit for YAML tokens in the settings of one harness. */
export const SETTINGS_TOKENS_MAX = 200_000;

/**
 * @returns the canonical key
 * @throws DomainError `governance.unknown_harness`; aliases are unknown too
 */
export function readHarnessKey(harness: string) {
  if (isHarnessKey(harness)) return harness;
  throw new DomainError(
    "invalid",
    "governance.unknown_harness",
    `there is no harness ${quoted(harness)}; it is one of ${HARNESS_KEYS.join(", ")}`,
  );
}

/** The settings of one harness, and the problems of their text. */
interface ReadSettings {
  settings: Readonly<Record<string, unknown>>;
  problems: Problem[];
}

/** @returns the settings of one harness, and the problems of the text */
export function readSettings(text: string, isOver?: () => boolean): ReadSettings {
  const { settings, problems } = readSettingsText(text, isOver);
  return { settings, problems };
}

/** Like readSettings, with a function that locates a setting in the text. */
export function readSettingsText(
  text: string,
  isOver?: () => boolean,
): ReadSettings & Pick<YamlText, "positionsOf"> {
  const problems = new ProblemList();
  const bounds = { bytesMax: DOCUMENT_BYTES_MAX, tokensMax: SETTINGS_TOKENS_MAX, isOver, hidesText: true };
  const { content, positionsOf } = readYamlText(Buffer.from(text), problems, bounds);
  const value = content ?? {};
  if (problems.count === 0 && !isJsonObject(value)) problems.add("", "must be a mapping of settings");
  return {
    settings: isJsonObject(value) ? value : {},
    problems: problems.list().map((problem) => ({ ...problem, pointer: "/managed_config_yaml" })),
    positionsOf,
  };
}

/** A document with only the extensions. It allows no harness, so packages need not cover any version. */
export function extensionsDocument({
  packages,
  packageOverrides = {},
  mcp = {},
}: ExtensionsPublication): object {
  const keys = new Set([...Object.keys(mcp), ...Object.keys(packageOverrides)]);
  const harnesses = [...keys].map((key) => [
    key,
    {
      ...(Object.hasOwn(mcp, key) && { mcp: mcp[key] }),
      ...(Object.hasOwn(packageOverrides, key) && { package_overrides: packageOverrides[key] }),
    },
  ]);
  return { revision: "", packages, harnesses: Object.fromEntries(harnesses) };
}

const EXTENSION_PLACE = /^\/harnesses\/([^/]+)\/(mcp|package_overrides)(.*)$/s;

/** A document groups by harness, a publication by kind. */
export const extensionsPointer =
  (mcp: object, overrides: object) =>
  (problem: Problem): Problem => {
    const [, harness, kind, rest] = EXTENSION_PLACE.exec(problem.pointer) ?? [];
    if (harness !== undefined) return { ...problem, pointer: `/${kind}/${harness}${rest}` };
    const [, unknown] = /^\/harnesses\/([^/]+)$/.exec(problem.pointer) ?? [];
    const holder = [["mcp", mcp] as const, ["package_overrides", overrides] as const].find(([, members]) =>
      Object.keys(members).some((key) => pointerOf([key]) === `/${unknown}`),
    );
    return unknown !== undefined && holder ? { ...problem, pointer: `/${holder[0]}/${unknown}` } : problem;
  };

/** The publication has the members of the harness at its root, and its settings as text. */
export const harnessPointer =
  (key: string, { positionsOf }: Pick<YamlText, "positionsOf">) =>
  (problem: Problem): Problem => {
    const own = `/harnesses/${key}/`;
    if (!problem.pointer.startsWith(own)) return problem;
    const rest = problem.pointer.slice(own.length);
    if (!rest.startsWith("managed_config")) return { ...problem, pointer: `/${rest}` };
    const setting = rest.replace("managed_config", "");
    const detail = `${setting} ${problem.detail}`.trim();
    return { pointer: "/managed_config_yaml", detail, ...positionsOf([setting])[0] };
  };
