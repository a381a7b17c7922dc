// Processor-heavy work on catalog files. The service runs it in a thread, so that requests are still answered; a command runs
// it directly. Pure functions of plain values.
import { parseCatalog, readCatalogText } from "./seed/catalog-document.ts";

/** The packages of a catalog file; each text is a JSON array of some of them, in order. */
export interface CatalogParts {
  parts: string[];
  /** pointer to the list in the file */
  root: string;
}

/** Minimum characters of a part, except for the last one: parsing one part must not delay other requests. */
const PART_CHARACTERS = 128 * 1024;

/** @throws DomainError `catalog.invalid` with all problems */
export function readCatalog({ bytes, fileName }: { bytes: Uint8Array; fileName: string }): CatalogParts {
  const { packages, text } = parseCatalog(bytes, fileName);
  const parts: string[] = [];
  let entries: string[] = [];
  let characters = 0;
  for (const managed of packages) {
    const entry = JSON.stringify(managed);
    entries.push(entry);
    characters += entry.length;
    if (characters < PART_CHARACTERS) continue;
    parts.push(`[${entries.join(",")}]`);
    entries = [];
    characters = 0;
  }
  parts.push(`[${entries.join(",")}]`);
  return { parts, root: text.root };
}

/** @param pointers into the list @returns the line of each */
function catalogLines({
  bytes,
  pointers,
}: {
  bytes: Uint8Array;
  pointers: readonly string[];
}): (number | undefined)[] {
  const { locate } = readCatalogText(bytes);
  return locate(pointers.map((pointer) => ({ pointer, detail: "" }))).map(({ line }) => line);
}

export interface CatalogTasks {
  readCatalog: typeof readCatalog;
  catalogLines: typeof catalogLines;
}

export const CATALOG_TASKS: {
  [Name in keyof CatalogTasks]: (
    request: Parameters<CatalogTasks[Name]>[0],
  ) => ReturnType<CatalogTasks[Name]>;
} = { readCatalog, catalogLines };

/** Runs one task, directly or in a thread. */
export type RunCatalogTask = <Name extends keyof CatalogTasks>(
  name: Name,
  request: Parameters<CatalogTasks[Name]>[0],
) => Promise<ReturnType<CatalogTasks[Name]>>;

/** For commands, which serve no other callers. */
export const runCatalogAtOnce: RunCatalogTask = async (name, request) => CATALOG_TASKS[name](request);
