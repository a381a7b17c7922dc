// The registry of coding agents (harnesses): their generations by version, the capabilities of each generation, and the package
// components it accepts. Facts and lookups only; catalog/ checks packages, governance/ checks policies.

import { invariant } from "../../platform/errors.ts";

/** Canonical keys in published order; the only spelling valid in policies, packages and uploads. */
export const HARNESS_KEYS = ["codex", "claude", "kimi", "opencode"] as const;
export type HarnessKey = (typeof HARNESS_KEYS)[number];

/** Components that a package layout may contain for a harness, in the order of API responses. */
export const COMPONENTS = [
  "plugin_dir",
  "skills_dir",
  "agents_dir",
  "hooks_file",
  "plugins",
  "helpers",
] as const;
export type Component = (typeof COMPONENTS)[number];

/** Published per generation, in this order. */
export const CAPABILITIES = [
  "mcp",
  "packages",
  "skills",
  "agents",
  "plugins",
  "hooks",
  "helpers",
  "gateway",
  "session_upload",
  "session_start",
  "session_resume",
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** The models that the user of a harness can choose: all models that the policy assigns to it, or only the selected one. */
type ModelExposure = "catalog" | "selected_only";

export interface ComponentRules {
  readonly agents_require_plugin: boolean;
  readonly hooks_require_plugin: boolean;
  readonly hooks_as_plugin_modules: boolean;
}

/** One range of versions of a harness that behave alike: `introduced` inclusive, `before` exclusive (null: open-ended). */
export interface HarnessGeneration {
  readonly profile: string;
  /** former names of the profile; accepted from clients, never published */
  readonly profileAliases: readonly string[];
  readonly introduced: string;
  readonly before: string | null;
  /** certified ceiling, exclusive: clients refuse this and newer versions unless the policy allows them */
  readonly verifiedBefore: string;
  readonly lifecycle: "supported" | "deprecated";
  readonly capabilities: readonly Capability[];
  readonly componentRules: ComponentRules;
  /** components that a package must not contain for this generation */
  readonly refuses: readonly Component[];
  /** components that are accepted only together with `plugin_dir` */
  readonly needPluginDir: readonly Component[];
  readonly exposure: ModelExposure;
}

export interface Harness {
  readonly key: HarnessKey;
  /** other spellings on clients' command lines; not valid in documents */
  readonly aliases: readonly string[];
  readonly label: string;
  readonly description: string;
  readonly binaryNames: readonly string[];
  /** contains `{version}` exactly once */
  readonly installCommandTemplate: string;
  /** oldest first, contiguous */
  readonly generations: readonly [HarnessGeneration, ...HarnessGeneration[]];
}

type GenerationFacts = Pick<HarnessGeneration, "profile" | "introduced" | "before" | "verifiedBefore"> & {
  profileAlias?: string;
  /** in addition to mcp, packages, helpers and gateway, which all harnesses have */
  can: readonly Capability[];
  refuses?: readonly Component[];
  needPluginDir?: readonly Component[];
  hooksAsPluginModules?: true;
  offersCatalog?: true;
};

const COMMON: readonly Capability[] = ["mcp", "packages", "helpers", "gateway"];
const SESSIONS: readonly Capability[] = ["session_upload", "session_start", "session_resume"];
const PLUGIN_FIRST: readonly Component[] = ["agents_dir", "hooks_file"];

const generation = (facts: GenerationFacts): HarnessGeneration => {
  const needPluginDir = facts.needPluginDir ?? [];
  return {
    profile: facts.profile,
    profileAliases: facts.profileAlias ? [facts.profileAlias] : [],
    introduced: facts.introduced,
    before: facts.before,
    verifiedBefore: facts.verifiedBefore,
    lifecycle: "supported",
    capabilities: CAPABILITIES.filter((name) => COMMON.includes(name) || facts.can.includes(name)),
    componentRules: {
      agents_require_plugin: needPluginDir.includes("agents_dir"),
      hooks_require_plugin: needPluginDir.includes("hooks_file"),
      hooks_as_plugin_modules: facts.hooksAsPluginModules ?? false,
    },
    refuses: facts.refuses ?? [],
    needPluginDir,
    exposure: facts.offersCatalog ? "catalog" : "selected_only",
  };
};

/** Every supported harness in published order. */
export const HARNESSES: readonly Harness[] = [
  {
    key: "codex",
    aliases: [],
    label: "Codex",
    description: "OpenAI's coding agent for the terminal",
    binaryNames: ["codex"],
    installCommandTemplate: "npm install -g '@openai/codex@{version}'",
    generations: [
      generation({
        profile: "codex-v0_0_0",
        introduced: "0.0.0",
        before: "0.114.0",
        verifiedBefore: "0.114.0-0",
        can: ["skills", "plugins", "hooks"],
        needPluginDir: PLUGIN_FIRST,
      }),
      generation({
        profile: "codex-v0_114_0",
        introduced: "0.114.0",
        before: "0.145.0",
        verifiedBefore: "0.145.0-0",
        can: ["skills", "plugins", "hooks", "session_start", "session_resume"],
        needPluginDir: PLUGIN_FIRST,
      }),
      generation({
        profile: "codex-v0_145_0",
        profileAlias: "codex-v1",
        introduced: "0.145.0",
        before: null,
        verifiedBefore: "0.151.1-0",
        can: ["skills", "plugins", "hooks", ...SESSIONS],
        needPluginDir: PLUGIN_FIRST,
      }),
    ],
  },
  {
    key: "claude",
    aliases: ["claude-code"],
    label: "Claude",
    description: "Anthropic's coding agent for the terminal",
    binaryNames: ["claude"],
    installCommandTemplate: "npm install -g '@anthropic-ai/claude-code@{version}'",
    generations: [
      generation({
        profile: "claude-v0_0_0",
        introduced: "0.0.0",
        before: "1.0.38",
        verifiedBefore: "1.0.38-0",
        can: [],
        offersCatalog: true,
        refuses: ["plugin_dir", "skills_dir", "agents_dir", "plugins", "hooks_file"],
      }),
      generation({
        profile: "claude-v1_0_38",
        introduced: "1.0.38",
        before: "2.0.12",
        verifiedBefore: "2.0.12-0",
        can: ["hooks"],
        offersCatalog: true,
        refuses: ["plugin_dir", "skills_dir", "agents_dir", "plugins"],
      }),
      generation({
        profile: "claude-v2_0_12",
        profileAlias: "claude-v1",
        introduced: "2.0.12",
        before: null,
        verifiedBefore: "2.1.253-0",
        can: ["skills", "plugins", "hooks", ...SESSIONS],
        offersCatalog: true,
        needPluginDir: PLUGIN_FIRST,
      }),
    ],
  },
  {
    key: "kimi",
    aliases: [],
    label: "Kimi",
    description: "Moonshot AI's coding agent for the terminal",
    binaryNames: ["kimi"],
    installCommandTemplate: "npm install -g '@moonshot-ai/kimi-code@{version}'",
    generations: [
      generation({
        profile: "kimi-v0_0_0",
        profileAlias: "kimi-v1",
        introduced: "0.0.0",
        before: null,
        verifiedBefore: "0.39.2-0",
        can: ["skills", "agents", "hooks", ...SESSIONS],
      }),
    ],
  },
  {
    key: "opencode",
    aliases: ["open-code"],
    label: "OpenCode",
    description: "The open source coding agent for the terminal",
    binaryNames: ["opencode"],
    installCommandTemplate: "npm install -g 'opencode-ai@{version}'",
    generations: [
      generation({
        profile: "opencode-v0_0_0",
        profileAlias: "opencode-v1",
        introduced: "0.0.0",
        before: null,
        verifiedBefore: "1.18.26-0",
        can: ["skills", "agents", "plugins", ...SESSIONS],
        offersCatalog: true,
        refuses: ["hooks_file"],
        hooksAsPluginModules: true,
      }),
    ],
  },
];

const harnessByKey: ReadonlyMap<string, Harness> = new Map(HARNESSES.map((entry) => [entry.key, entry]));

/** @returns whether the text is a canonical harness key; aliases are not */
export const isHarnessKey = (text: string): text is HarnessKey => harnessByKey.has(text);

/** @returns the harnesses among the keys of a mapping, in its order */
export const harnessKeysIn = (byHarness: object): HarnessKey[] => Object.keys(byHarness).filter(isHarnessKey);

/** @returns why the text is not a canonical key, and the correct key */
export const unknownHarness = (name: string): string => {
  const harness = HARNESSES.find(({ aliases }) => aliases.includes(name));
  return harness
    ? `is only an alias; write ${harness.key}`
    : `is not a harness; the harnesses are ${HARNESS_KEYS.join(", ")}`;
};

/** @returns the registry entry of a canonical key */
export const getHarness = (key: HarnessKey): Harness => {
  const found = harnessByKey.get(key);
  invariant(found, `harness ${key} is registered`);
  return found;
};

/**
 * Checks the components of one layout of a package.
 * @returns why this generation refuses them, one short clause each; empty if it accepts them
 * @source handbook: catalog-file, What each harness accepts
 */
export const refusalsOf = (generation: HarnessGeneration, components: ReadonlySet<Component>): string[] => {
  const present = [...components];
  const refused = present.filter((name) => generation.refuses.includes(name));
  const alone = components.has("plugin_dir")
    ? []
    : present.filter((name) => generation.needPluginDir.includes(name));
  return [
    ...refused.map((name) => `${name} is not supported`),
    ...alone.map((name) => `${name} also needs plugin_dir`),
  ];
};

/** @returns whether this generation accepts a layout with exactly these components; see refusalsOf */
export const acceptsComponents = (
  generation: HarnessGeneration,
  components: ReadonlySet<Component>,
): boolean => refusalsOf(generation, components).length === 0;
