// The additions of a harness file to the built-in facts: higher certified ceilings and newer generations. harness-file.ts reads
// the file; harness-facts.ts keeps the current one.
import { parseVersion } from "../shared/exact-version.ts";
import {
  CAPABILITIES,
  type Capability,
  COMPONENTS,
  type Component,
  type ComponentRules,
  HARNESSES,
  type Harness,
  type HarnessGeneration,
  type HarnessKey,
} from "./harnesses.ts";

/** A generation after the newest built-in one. Absent members come from the previous generation. */
export interface AddedGeneration {
  readonly introduced: string;
  readonly verified_before: string;
  readonly capabilities?: readonly Capability[];
  readonly allowed_components?: readonly Component[];
  readonly component_rules?: Partial<ComponentRules>;
}

export interface HarnessAddition {
  /** ceiling of the newest built-in generation */
  readonly verified_before?: string;
  /** oldest first */
  readonly generations: readonly AddedGeneration[];
}

/** Plain values, because a thread that checks documents gets a copy. */
export type HarnessExtension = { readonly [Key in HarnessKey]?: HarnessAddition };

export const NO_EXTENSION: HarnessExtension = {};

const generationAfter = (
  key: HarnessKey,
  former: HarnessGeneration,
  added: AddedGeneration,
): HarnessGeneration => {
  const { capabilities, allowed_components: allowed } = added;
  const rules = { ...former.componentRules, ...added.component_rules };
  return {
    profile: `${key}-v${(parseVersion(added.introduced)?.version ?? "").replaceAll(".", "_")}`,
    profileAliases: [],
    introduced: added.introduced,
    before: null,
    verifiedBefore: added.verified_before,
    lifecycle: "supported",
    capabilities: capabilities
      ? CAPABILITIES.filter((name) => capabilities.includes(name))
      : former.capabilities,
    componentRules: rules,
    refuses: allowed ? COMPONENTS.filter((name) => !allowed.includes(name)) : former.refuses,
    exposure: former.exposure,
    needPluginDir: [
      ...(rules.agents_require_plugin ? (["agents_dir"] as const) : []),
      ...(rules.hooks_require_plugin ? (["hooks_file"] as const) : []),
    ],
  };
};

const extended = (harness: Harness, { verified_before, generations }: HarnessAddition): Harness => {
  const newest = harness.generations.at(-1) ?? harness.generations[0];
  const all = [
    ...harness.generations.slice(0, -1),
    { ...newest, verifiedBefore: verified_before ?? newest.verifiedBefore },
  ];
  for (const added of generations) {
    const former = all.at(-1) ?? newest;
    all.splice(-1, 1, { ...former, before: added.introduced }, generationAfter(harness.key, former, added));
  }
  const [oldest = newest, ...later] = all;
  return { ...harness, generations: [oldest, ...later] };
};

const known = new WeakMap<HarnessExtension, readonly Harness[]>();

/**
 * @param extension already checked by harness-file.ts
 * @returns the built-in facts with the additions; the same object for the same extension, so that it can be a cache key
 */
export const extendHarnesses = (extension: HarnessExtension): readonly Harness[] => {
  if (Object.keys(extension).length === 0) return HARNESSES;
  const found = known.get(extension);
  if (found) return found;
  const harnesses = HARNESSES.map((harness) => {
    const addition = extension[harness.key];
    return addition ? extended(harness, addition) : harness;
  });
  known.set(extension, harnesses);
  return harnesses;
};
