// The published registry of harnesses: shape and content of GET /harness-metadata.

import { type Static, Type } from "@sinclair/typebox";
import {
  CAPABILITIES,
  COMPONENTS,
  HARNESS_KEYS,
  type Harness,
  type HarnessGeneration,
} from "../../harnesses/harnesses.ts";
import { COMMON_GENERATION } from "../wire.ts";

const oneOf = <Name extends string>(names: readonly Name[]) =>
  Type.Union(names.map((name) => Type.Literal(name)));

const ComponentRules = Type.Object({
  agents_require_plugin: Type.Boolean(),
  hooks_require_plugin: Type.Boolean(),
  hooks_as_plugin_modules: Type.Boolean(),
});

const Generation = Type.Object({
  profile: Type.String(),
  introduced: Type.String({ description: "Inclusive." }),
  before: Type.Union([Type.String(), Type.Null()], {
    description: "Exclusive; null for the newest generation.",
  }),
  verified_before: Type.String({ description: "Exclusive ceiling of certified releases." }),
  lifecycle: oneOf(["supported", "deprecated"]),
  capabilities: Type.Array(oneOf(CAPABILITIES)),
  component_rules: ComponentRules,
  allowed_components: Type.Array(oneOf(COMPONENTS), {
    description:
      "Components that a package may contain; `component_rules` names those that also need a plugin_dir.",
  }),
});

export const HarnessMetadata = Type.Object({
  contract_version: Type.Integer({ description: "Highest governance contract the server publishes." }),
  harnesses: Type.Array(
    Type.Object({
      key: oneOf(HARNESS_KEYS),
      aliases: Type.Array(Type.String()),
      label: Type.String(),
      description: Type.String(),
      binary_names: Type.Array(Type.String()),
      install_command_template: Type.String({ description: "Contains `{version}` exactly once." }),
      capabilities: Type.Array(oneOf(CAPABILITIES), { description: "Sorted union over all generations." }),
      component_rules: ComponentRules,
      generations: Type.Array(Generation, {
        minItems: 1,
        description: "Oldest first; intervals are contiguous.",
      }),
    }),
  ),
});
export type HarnessMetadata = Static<typeof HarnessMetadata>;

const publishedGeneration = (generation: HarnessGeneration): Static<typeof Generation> => ({
  profile: generation.profile,
  introduced: generation.introduced,
  before: generation.before,
  verified_before: generation.verifiedBefore,
  lifecycle: generation.lifecycle,
  capabilities: [...generation.capabilities],
  component_rules: generation.componentRules,
  allowed_components: COMPONENTS.filter((name) => !generation.refuses.includes(name)),
});

const published = ({ generations, ...harness }: Harness): HarnessMetadata["harnesses"][number] => {
  const newest = generations.at(-1) ?? generations[0];
  return {
    key: harness.key,
    aliases: [...harness.aliases],
    label: harness.label,
    description: harness.description,
    binary_names: [...harness.binaryNames],
    install_command_template: harness.installCommandTemplate,
    capabilities: [...new Set(generations.flatMap(({ capabilities }) => capabilities))].toSorted(),
    component_rules: newest.componentRules,
    generations: generations.map(publishedGeneration),
  };
};

/** @param harnesses the current facts. @returns the whole registry in its own order */
export const harnessMetadata = (harnesses: readonly Harness[]): HarnessMetadata => ({
  contract_version: COMMON_GENERATION, // a higher one would exclude clients that the current policy may still serve
  harnesses: harnesses.map(published),
});
