// Proposes where the components of a package are in an archive, from the usual names of folders. An administrator confirms or
// corrects the proposal; layouts.ts and required-paths.ts check the result.
import {
  acceptsComponents,
  type Component,
  type Harness,
  type HarnessGeneration,
  type HarnessKey,
} from "../../harnesses/harnesses.ts";
import { HELPERS_MAX, type PackageAdapter, type PackageLayout, PLUGINS_MAX } from "../model.ts";
import { CLIENT_PLATFORMS } from "../sources/source-warnings.ts";
import { componentsOf } from "./layouts.ts";

const MANIFEST = /^(.*?)\/?\.(?:claude|codex)-plugin\/plugin\.json$/;
const SKILL = /^(?:(.*)\/)?SKILL\.md$/;
const AGENT = /^((?:.*\/)?agents)\/[^/]+\.md$/;
const HOOKS = /^(?:.*\/)?hooks\.json$/;
const MODULE = /^(?:.*\/)?plugins?\/[^/]+\.(?:js|mjs|ts)$/;
const HELPER = /^(?:.*\/)?bin\/(?:([a-z0-9_]+-[a-z0-9_]+)\/)?([^/]+)$/;
/** Name of the folder that contains skill folders. */
const SKILLS = "skills";

/** @param files paths of the files of an archive @returns an adapter for each harness that accepts any of the components */
export function proposeAdapters(
  files: readonly string[],
  harnesses: readonly Harness[],
): Partial<Record<HarnessKey, PackageAdapter>> {
  const found = componentsIn(files);
  return Object.fromEntries(
    harnesses.flatMap(({ key, generations }) => {
      const newest = generations.at(-1);
      const layout = newest && layoutFor(found, newest);
      return layout && componentsOf(layout).size > 0
        ? [[key, { ...sinceOf(layout, generations), ...layout }]]
        : [];
    }),
  );
}

/** @returns the components found; the layout of a harness uses those that it accepts */
function componentsIn(files: readonly string[]): PackageLayout {
  const byDepth = files.toSorted((one, other) => depthOf(one) - depthOf(other));
  const first = (pattern: RegExp, group: number) =>
    byDepth.map((path) => pattern.exec(path)?.[group]).find((path) => path !== undefined);
  const plugin = first(MANIFEST, 1);
  const skills = skillsIn(byDepth);
  const agents = first(AGENT, 1);
  const hooks = first(HOOKS, 0);
  return {
    ...(plugin !== undefined && { plugin_dir: orRoot(plugin) }),
    ...(skills !== undefined && { skills_dir: orRoot(skills) }),
    ...(agents !== undefined && { agents_dir: agents }),
    ...(hooks !== undefined && { hooks_file: hooks }),
    plugins: files.filter((path) => MODULE.test(path)).slice(0, PLUGINS_MAX),
    helpers: helpersIn(files),
  };
}

const depthOf = (path: string): number => path.split("/").length;

/** The root of an archive is written as a dot. */
const orRoot = (path: string): string => (path === "" ? "." : path);

/** @returns the folder of skill folders, or the folder of the only skill */
function skillsIn(files: readonly string[]): string | undefined {
  const folders = files.flatMap((path) => {
    const match = SKILL.exec(path);
    return match ? [match[1] ?? ""] : [];
  });
  const [first] = folders;
  if (first === undefined) return undefined;
  const parts = first.split("/");
  return folders.length > 1 || parts.at(-2) === SKILLS ? parts.slice(0, -1).join("/") : first;
}

function helpersIn(files: readonly string[]): PackageLayout["helpers"] {
  const helpers: PackageLayout["helpers"] = {};
  for (const path of files) {
    const [, platform = "default", name] = HELPER.exec(path) ?? [];
    if (name === undefined || (platform !== "default" && !CLIENT_PLATFORMS.includes(platform))) continue;
    const command = name.replace(/\.exe$/, "");
    if (Object.keys(helpers).length >= HELPERS_MAX && !Object.hasOwn(helpers, command)) continue;
    helpers[command] = { paths: { ...helpers[command]?.paths, [platform]: path } };
  }
  return helpers;
}

/** A plugin folder contains the skills, agents and hooks of its harness. */
function layoutFor(found: PackageLayout, generation: HarnessGeneration): PackageLayout {
  const can = (name: HarnessGeneration["capabilities"][number]) => generation.capabilities.includes(name);
  const { hooks_as_plugin_modules: hasModules } = generation.componentRules;
  const isPlugin = found.plugin_dir !== undefined && generation.needPluginDir.length > 0;
  const { plugin_dir, skills_dir, agents_dir, hooks_file, plugins, helpers } = found;
  const parts: Partial<PackageLayout> = isPlugin
    ? { ...(plugin_dir !== undefined && { plugin_dir }) }
    : {
        ...(skills_dir !== undefined && can("skills") && { skills_dir }),
        ...(agents_dir !== undefined && accepts(generation, "agents_dir", can("agents")) && { agents_dir }),
        ...(hooks_file !== undefined && accepts(generation, "hooks_file", can("hooks")) && { hooks_file }),
      };
  return { ...parts, plugins: hasModules && can("plugins") ? plugins : [], helpers };
}

const accepts = (generation: HarnessGeneration, component: Component, isAble: boolean): boolean =>
  isAble && acceptsComponents(generation, new Set([component]));

/** @returns the first version from which every generation accepts the layout; empty if all do */
function sinceOf(layout: PackageLayout, generations: readonly HarnessGeneration[]): { introduced?: string } {
  const components = componentsOf(layout);
  const last = generations.findLastIndex((generation) => !acceptsComponents(generation, components));
  const introduced = generations[last + 1]?.introduced;
  return last < 0 || introduced === undefined ? {} : { introduced };
}
