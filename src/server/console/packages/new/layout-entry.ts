// The entered layout of one harness: fields for the components, one line for each plugin and helper, and YAML for the
// rest.
import type { ManagedPackage } from "../../../../domain/catalog/service.ts";
import { CLIENT_PLATFORMS } from "../../../../domain/catalog/sources/source-warnings.ts";
import {
  COMPONENTS,
  getHarness,
  HARNESS_KEYS,
  type Harness,
  type HarnessKey,
} from "../../../../domain/harnesses/harnesses.ts";
import type { Problem } from "../../../../platform/errors.ts";
import { yamlText } from "../../../../platform/text/yaml-write.ts";
import type { Fields } from "../../frame/kept-fields.tsx";
import { withoutReturns } from "../../long-form.ts";

type Adapter = NonNullable<ManagedPackage["adapters"][HarnessKey]>;

const TEXT_MEMBERS = [
  "plugin_dir",
  "skills_dir",
  "agents_dir",
  "hooks_file",
  "introduced",
  "before",
] as const;
/** Members with a line for each entry, and the YAML. */
const LINES_MEMBERS = ["plugins", "helpers", "more"] as const;
export type LayoutMember = (typeof TEXT_MEMBERS)[number] | (typeof LINES_MEMBERS)[number];

export const LAYOUT_LABELS: Readonly<Record<LayoutMember, string>> = {
  plugin_dir: "Folder of the plugin",
  skills_dir: "Folder of skills",
  agents_dir: "Folder of agents",
  hooks_file: "File with hooks",
  introduced: "From version",
  before: "Before version",
  plugins: "Plugin modules",
  helpers: "Commands",
  more: "Other layouts for some versions",
};

export interface LayoutEntry extends Readonly<Record<LayoutMember, string>> {
  harness: HarnessKey;
  /** whether the harness gets the package */
  isUsed: boolean;
}

/** Helpers for every platform. */
const ANY_PLATFORM = "default";

/** @returns the id and the name of a control */
export const controlName = (harness: HarnessKey, member: LayoutMember | "use"): string =>
  `${harness}-${member}`;

/** @param adapter undefined for a harness that gets nothing */
export function layoutEntryOf(harness: HarnessKey, adapter: Adapter | undefined): LayoutEntry {
  const { plugins = [], helpers = {}, variants = [] } = adapter ?? {};
  const texts = TEXT_MEMBERS.map((name) => [name, adapter?.[name] ?? ""] as const);
  const lines = Object.entries(helpers).flatMap(([command, { paths }]) =>
    Object.entries(paths).map(([platform, path]) => `${command} ${platform} ${path}`),
  );
  return {
    harness,
    isUsed: adapter !== undefined,
    ...textsOf(new Map(texts)),
    plugins: plugins.join("\n"),
    helpers: lines.join("\n"),
    more: variants.length > 0 ? yamlText({ variants }).trimEnd() : "",
  };
}

/** @returns the layouts of all harnesses as they were entered */
export const layoutEntriesIn = (fields: Fields): LayoutEntry[] =>
  HARNESS_KEYS.map((harness) => {
    const sent = (member: LayoutMember) => withoutReturns(fields[controlName(harness, member)] ?? "");
    return {
      harness,
      isUsed: fields[controlName(harness, "use")] !== undefined,
      ...textsOf(new Map(TEXT_MEMBERS.map((name) => [name, sent(name).trim()]))),
      plugins: sent("plugins"),
      helpers: sent("helpers"),
      more: sent("more"),
    };
  });

const textsOf = (texts: ReadonlyMap<string, string>) => ({
  plugin_dir: texts.get("plugin_dir") ?? "",
  skills_dir: texts.get("skills_dir") ?? "",
  agents_dir: texts.get("agents_dir") ?? "",
  hooks_file: texts.get("hooks_file") ?? "",
  introduced: texts.get("introduced") ?? "",
  before: texts.get("before") ?? "",
});

/** @returns the entered adapter without `more`, which the domain checks; and unreadable lines */
export function adapterIn(entry: LayoutEntry): { adapter: Record<string, unknown>; problems: Problem[] } {
  const texts = TEXT_MEMBERS.filter((name) => entry[name] !== "").map((name) => [name, entry[name]]);
  const problems: Problem[] = [];
  const helpers: Record<string, { paths: Record<string, string> }> = {};
  for (const line of linesOf(entry.helpers)) {
    const [, command, platform, path] = /^(\S+)\s+(\S+)\s+(.+)$/.exec(line) ?? [];
    if (command === undefined || platform === undefined || path === undefined)
      problems.push({
        pointer: `/adapters/${entry.harness}/helpers`,
        detail: `${JSON.stringify(line)} is not understood: ${HELPER_FORM}`,
      });
    else helpers[command] = { paths: { ...helpers[command]?.paths, [platform]: path } };
  }
  return { adapter: { ...Object.fromEntries(texts), plugins: linesOf(entry.plugins), helpers }, problems };
}

export const HELPER_FORM = `write the command, the platform (${ANY_PLATFORM} for all, or ${CLIENT_PLATFORMS.join(", ")}) and the path`;

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** @returns the components that some generation of the harness accepts */
export const acceptedBy = ({ generations }: Harness) =>
  COMPONENTS.filter((component) => generations.some(({ refuses }) => !refuses.includes(component)));

/** @param pointer into the package, such as `/adapters/codex/helpers/ticket` @returns the id of the control */
export function controlOf(pointer: string): string | undefined {
  const place = placeOf(pointer);
  return place && controlName(place.harness, place.member);
}

/** @param pointer as for controlOf @returns the harness and the label of the control: `Codex, Folder of skills` */
export function controlLabel(pointer: string): string | undefined {
  const place = placeOf(pointer);
  if (!place) return undefined;
  const { harness, member } = place;
  return [getHarness(harness).label, ...(member === "use" ? [] : [LAYOUT_LABELS[member]])].join(", ");
}

function placeOf(pointer: string): { harness: HarnessKey; member: LayoutMember | "use" } | undefined {
  const [, key, member] = /^\/adapters\/([a-z]+)(?:\/([a-z_]+))?/.exec(pointer) ?? [];
  const harness = HARNESS_KEYS.find((known) => known === key);
  if (!harness) return undefined;
  const known = [...TEXT_MEMBERS, ...LINES_MEMBERS].find((name) => name === member);
  return { harness, member: known ?? (member === undefined ? "use" : "more") };
}
