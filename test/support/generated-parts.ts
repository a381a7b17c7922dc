// Parts of Markdown files that are generated from the code, between two comments. A test compares each with the current result, and
// rewrites it if QUARTERMASTER_UPDATE_GOLDEN is set.
import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";

const PART = /^<!-- generated: ([a-z-]+) -->\n([\s\S]*?)^<!-- end -->$/gm;

/** @returns the names of the parts, in their order */
export const partNamesIn = (markdown: string): string[] =>
  [...markdown.matchAll(PART)].map(([, name = ""]) => name);

/** Fails for each part of the file that differs from its generator's output. */
export function expectPartsCurrent(file: string, generators: Readonly<Record<string, () => string>>): void {
  const markdown = readFileSync(file, "utf8");
  const current = markdown.replaceAll(PART, (_, name: string) => {
    const text = generators[name]?.() ?? `no generator is called ${name}`;
    return `<!-- generated: ${name} -->\n\n${text.trim()}\n\n<!-- end -->`;
  });
  if (process.env.QUARTERMASTER_UPDATE_GOLDEN) writeFileSync(file, current);
  else expect(markdown).toBe(current);
}
