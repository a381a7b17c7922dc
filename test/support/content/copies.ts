// Directories that take long to create are created once in a process, kept in memory and written wherever a test needs a copy.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Writes a directory at a new place. */
export type Copy = (place: string) => void;

/** SQLite creates it again. */
const SHARED_MEMORY = "-shm";

/** Reads a directory into memory; a database in it may be open, but nobody may write. */
export function remember(directory: string): Copy {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => !name.endsWith(SHARED_MEMORY))
    .sort();
  const entries = names.map((name) => {
    const path = join(directory, name);
    const { mode } = statSync(path);
    return { name, mode, bytes: statSync(path).isFile() ? readFileSync(path) : undefined };
  });
  const { mode: ownMode } = statSync(directory);
  return (place) => {
    mkdirSync(place, { recursive: true, mode: ownMode });
    for (const { name, mode, bytes } of entries) {
      if (bytes) writeFileSync(join(place, name), bytes, { mode });
      else mkdirSync(join(place, name), { mode });
    }
  };
}
