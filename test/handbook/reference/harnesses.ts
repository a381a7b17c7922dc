// What each generation of a harness accepts in a package, from the registry of harnesses.
import { COMPONENTS, HARNESSES, type HarnessGeneration } from "../../../src/domain/harnesses/harnesses.ts";
import { code, table } from "./prose.ts";

const list = (names: readonly string[]): string => (names.length === 0 ? "–" : names.map(code).join(", "));

const rowOf = (key: string, generation: HarnessGeneration): string[] => [
  code(key),
  generation.before === null
    ? `from ${generation.introduced}`
    : `${generation.introduced} up to ${generation.before}`,
  `below ${generation.verifiedBefore}`,
  list(COMPONENTS.filter((name) => !generation.refuses.includes(name))),
  list(generation.needPluginDir),
];

export const harnessComponentsMarkdown = (): string =>
  table(
    ["Harness", "Versions", "Certified", "Accepts", "Only beside `plugin_dir`"],
    HARNESSES.flatMap(({ key, generations }) => generations.map((generation) => rowOf(key, generation))),
  );
