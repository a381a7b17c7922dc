// Reads a harness file: YAML or JSON that raises certified ceilings and adds generations. It can only extend the built-in
// facts. The caller checks its signature.
import { compare, type SemVer } from "semver";
import { DomainError } from "../../platform/errors.ts";
import { ObjectReader, type Place, readText } from "../../platform/text/object-reader.ts";
import { ProblemList, quoted } from "../../platform/text/problem-list.ts";
import { locate, readYamlText } from "../../platform/text/yaml-text.ts";
import { parseVersion } from "../shared/exact-version.ts";
import type { AddedGeneration, HarnessAddition, HarnessExtension } from "./harness-extension.ts";
import {
  CAPABILITIES,
  COMPONENTS,
  type ComponentRules,
  getHarness,
  HARNESS_KEYS,
  type HarnessGeneration,
  type HarnessKey,
  isHarnessKey,
  unknownHarness,
} from "./harnesses.ts";

/** The value of `format`. */
export const HARNESS_FILE_FORMAT = "quartermaster-harnesses/1";
export const HARNESS_FILE_BYTES_MAX = 65_536;
/** maximum number of generations that a file adds to one harness */
export const GENERATIONS_ADDED_MAX = 16;
export const HARNESS_VERSION_CHARACTERS_MAX = 64;
export const HARNESS_FILE_TOKENS_MAX = 20_000;
export const NAMES_MAX = 16;

const RULES = ["agents_require_plugin", "hooks_require_plugin", "hooks_as_plugin_modules"] as const;
const GENERATION_MEMBERS = [
  "introduced",
  "before",
  "verified_before",
  "capabilities",
  "allowed_components",
  "component_rules",
];

/**
 * @param fileName the name of the file, for errors
 * @throws DomainError `harnesses.invalid` with every problem and its line
 */
export const readHarnessFile = (bytes: Uint8Array, fileName: string): HarnessExtension => {
  const problems = new ProblemList();
  const text = readYamlText(bytes, problems, {
    bytesMax: HARNESS_FILE_BYTES_MAX,
    tokensMax: HARNESS_FILE_TOKENS_MAX,
  });
  const extension = problems.count === 0 ? readExtension(text.content, problems) : {};
  if (problems.count === 0) return extension;
  const [count, noun] = [problems.count, problems.count === 1 ? "problem" : "problems"];
  // Problems of the YAML itself come with their line.
  const located = problems
    .list()
    .flatMap((problem) => (problem.line === undefined ? locate(text, "", [problem]) : [problem]));
  throw new DomainError("invalid", "harnesses.invalid", `${fileName} has ${count} ${noun}`, {
    hint: "correct the file and sign it again: quartermaster harnesses sign FILE",
    problems: located,
  });
};

function readExtension(content: unknown, problems: ProblemList): HarnessExtension {
  const members = ObjectReader.read({ value: content, pointer: "" }, problems, ["format", "harnesses"]);
  if (!members) return {};
  const format = members.requiredText("format", HARNESS_VERSION_CHARACTERS_MAX);
  if (format !== undefined && format !== HARNESS_FILE_FORMAT)
    members.report(`must be ${HARNESS_FILE_FORMAT}`, "format");
  if (!members.has("harnesses")) members.report("is missing", "harnesses");
  const extension: { [Key in HarnessKey]?: HarnessAddition } = {};
  for (const [name, place] of members.entries("harnesses", HARNESS_KEYS.length)) {
    if (!isHarnessKey(name)) problems.add(place.pointer, unknownHarness(name));
    else extension[name] = readAddition(place, name, problems);
  }
  return extension;
}

/** The bound at which the next generation must start. */
interface Former {
  ceiling: SemVer | null;
}

function readAddition(place: Place, key: HarnessKey, problems: ProblemList): HarnessAddition {
  const members = ObjectReader.read(place, problems, ["verified_before", "generations"]);
  const newest = getHarness(key).generations.at(-1);
  if (!members || !newest) return { generations: [] };
  const builtIn = parseVersion(newest.verifiedBefore);
  const ceiling = readVersion(members, "verified_before");
  if (ceiling && builtIn && compare(ceiling, builtIn) < 0)
    members.report(
      `${ceiling.version} is below ${newest.verifiedBefore}, which this program certifies; remove it or raise it`,
      "verified_before",
    );
  const former: Former = { ceiling: ceiling ?? builtIn };
  const places = members.items("generations", GENERATIONS_ADDED_MAX);
  if (!members.has("verified_before") && places.length === 0)
    members.report("adds nothing; set verified_before or generations");
  const generations = places.flatMap((one) => readGeneration(one, { newest, former, problems }) ?? []);
  if (generations.length === places.length) checkEnds(places, generations, problems);
  return { ...(ceiling && { verified_before: ceiling.version }), generations };
}

function readGeneration(
  place: Place,
  { newest, former, problems }: { newest: HarnessGeneration; former: Former; problems: ProblemList },
): AddedGeneration | undefined {
  const members = ObjectReader.read(place, problems, GENERATION_MEMBERS);
  if (!members) return undefined;
  const introduced = readRequiredVersion(members, "introduced");
  const ceiling = readRequiredVersion(members, "verified_before");
  if (introduced && introduced.prerelease.length > 0)
    members.report(
      `${introduced.version} is a pre-release; a generation must begin with a release`,
      "introduced",
    );
  if (introduced && former.ceiling && compare(introduced, former.ceiling) < 0)
    members.report(
      `${introduced.version} is below ${former.ceiling.version}, up to which the previous generation is certified`,
      "introduced",
    );
  if (introduced && ceiling && compare(ceiling, introduced) <= 0)
    members.report(`must be above ${introduced.version}, where the generation begins`, "verified_before");
  const facts = readFacts(members, newest);
  if (!introduced || !ceiling) return undefined;
  former.ceiling = ceiling;
  return { introduced: introduced.version, verified_before: ceiling.version, ...facts };
}

/** The catalog rules are built in, so a generation may only restrict what packages may contain. */
function readFacts(members: ObjectReader, newest: HarnessGeneration): Partial<AddedGeneration> {
  const capabilities = readNames(members, "capabilities", CAPABILITIES);
  const components = readNames(members, "allowed_components", COMPONENTS);
  for (const name of components?.filter((one) => newest.refuses.includes(one)) ?? [])
    members.report(
      `${name} is refused by ${newest.profile}, and only a newer program can allow it`,
      "allowed_components",
    );
  const rules = readRules(members, newest);
  return {
    ...(capabilities && { capabilities }),
    ...(components && { allowed_components: components }),
    ...(rules && { component_rules: rules }),
  };
}

function readRules(members: ObjectReader, newest: HarnessGeneration): Partial<ComponentRules> | undefined {
  if (!members.has("component_rules")) return undefined;
  const place = { value: members.value("component_rules"), pointer: members.at("component_rules") };
  const inner = ObjectReader.read(place, members.problems, RULES);
  if (!inner) return undefined;
  const given = RULES.flatMap((name) => {
    const value = inner.flag(name);
    if (value === false && name !== "hooks_as_plugin_modules" && newest.componentRules[name])
      inner.report(`is true in ${newest.profile}, and only a newer program can lift it`, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}

function readNames<Name extends string>(
  members: ObjectReader,
  name: string,
  known: readonly Name[],
): Name[] | undefined {
  if (!members.has(name)) return undefined;
  return members.items(name, NAMES_MAX).flatMap((place) => {
    const text = readText(place, members.problems, HARNESS_VERSION_CHARACTERS_MAX);
    const found = known.find((one) => one === text);
    if (text !== undefined && !found)
      members.problems.add(place.pointer, `${quoted(text)} is not one of ${known.join(", ")}`);
    return found ?? [];
  });
}

function readVersion(members: ObjectReader, name: string): SemVer | undefined {
  const text = members.text(name, HARNESS_VERSION_CHARACTERS_MAX);
  if (text === undefined) return undefined;
  const version = parseVersion(text);
  if (!version) members.report(`${quoted(text)} is not a full version such as 2.0.12`, name);
  return version ?? undefined;
}

function readRequiredVersion(members: ObjectReader, name: string): SemVer | undefined {
  if (!members.has(name)) members.report("is missing", name);
  return readVersion(members, name);
}

/** `before` is optional; if it is present, the next generation starts there. */
function checkEnds(
  places: readonly Place[],
  generations: readonly AddedGeneration[],
  problems: ProblemList,
): void {
  for (const [index, place] of places.entries()) {
    const members = ObjectReader.read(place, new ProblemList(), GENERATION_MEMBERS);
    if (!members?.has("before")) continue;
    const next = generations[index + 1]?.introduced;
    if (members.value("before") !== next)
      problems.add(
        members.at("before"),
        next === undefined
          ? "must be left out: the newest generation is open"
          : `must be ${next}, where the next generation begins`,
      );
  }
}
