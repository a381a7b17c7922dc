// Directories that take long to make are made once in a process, kept in memory and written wherever a test wants its own.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Reads a directory into memory and removes it. @returns what writes it again at a new place */
export function remembered(directory: string): (place: string) => void {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
  const entries = names.map((name) => {
    const path = join(directory, name);
    const { mode } = statSync(path);
    return { name, mode, bytes: statSync(path).isFile() ? readFileSync(path) : undefined };
  });
  const { mode: ownMode } = statSync(directory);
  rmSync(directory, { recursive: true });
  return (place) => {
    mkdirSync(place, { recursive: true, mode: ownMode });
    for (const { name, mode, bytes } of entries) {
      if (bytes) writeFileSync(join(place, name), bytes, { mode });
      else mkdirSync(join(place, name), { mode });
    }
  };
}
