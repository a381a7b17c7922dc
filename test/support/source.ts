// Reads the project's own source text for the architecture tests: imports with resolved paths, code without its comments.
import { dirname, join, normalize } from "node:path";
import { Glob } from "bun";

export const ROOT = join(import.meta.dir, "../..");

export interface Import {
  /** path from the root of the repository, or the name of a package or built-in module */
  readonly target: string;
  /** the text between `import` and `from`, as written */
  readonly names: string;
  /** removed by the compiler: it has no effect at run time */
  readonly typeOnly: boolean;
  /** loaded when the code reaches it, not with its file */
  readonly lazy: boolean;
}

export interface Source {
  readonly path: string;
  readonly text: string;
  readonly code: string;
  readonly imports: readonly Import[];
}

const STATIC = /^(?:import|export)\s+(?:([^"';]*?)\s+from\s+)?"([^"]+)"/gm;
const DYNAMIC = /\bimport\(\s*"([^"]+)"/g;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<![:"'`])\/\/.*$/gm;

/** a call of test or describe, also as test.each(…)( and test.if(…)( */
const TITLE =
  /(?:\b(?:test|describe)(?:\.\w+)?\(|\]\)\(|\)\)\(|\w\)\()\s*(["'`])(?<title>(?:(?!\1)[^\\]|\\.)*)/g;

/** @returns the comments of a TypeScript file, as written */
export const commentsIn = (text: string): string[] => [...text.matchAll(COMMENT)].map(([comment]) => comment);

/** @returns the titles of the tests and groups of tests in a file, as written */
export const titlesIn = (text: string): string[] =>
  [...text.matchAll(TITLE)].flatMap(({ groups }) => groups?.title ?? []);

/** @returns every TypeScript file below these folders, by path */
export async function readSources(folders: readonly string[]): Promise<Source[]> {
  const paths = folders.flatMap((folder) => [...new Glob(`${folder}/**/*.{ts,tsx}`).scanSync(ROOT)]);
  const texts = paths.sort().map(async (path) => sourceOf(path, await Bun.file(join(ROOT, path)).text()));
  return Promise.all(texts);
}

/** @param path from the root of the repository */
export function sourceOf(path: string, text: string): Source {
  const code = text.replace(COMMENT, "");
  const found = [...code.matchAll(STATIC)].map(([, names = "", target = ""]) => ({
    names,
    target,
    lazy: false,
  }));
  const dynamic = [...code.matchAll(DYNAMIC)].map(([, target = ""]) => ({ names: "", target, lazy: true }));
  const imports = [...found, ...dynamic].map(({ names, target, lazy }) => ({
    names,
    lazy,
    target: target.startsWith(".") ? normalize(join(dirname(path), target)) : target,
    typeOnly: isTypeOnly(names),
  }));
  return { path, text, code, imports };
}

function isTypeOnly(names: string): boolean {
  if (names.startsWith("type ")) return true;
  const [, list = ""] = /^\{([^}]*)\}$/.exec(names) ?? [];
  const members = list
    .split(",")
    .map((member) => member.trim())
    .filter((member) => member !== "");
  return members.length > 0 && members.every((member) => member.startsWith("type "));
}
