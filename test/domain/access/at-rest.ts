// What somebody who copies the database would hold.
import { existsSync, readFileSync } from "node:fs";

/** @returns whether the text stands anywhere in the database file or its write-ahead log */
export const isAtRest = (file: string, text: string): boolean =>
  [file, `${file}-wal`].some((path) => existsSync(path) && readFileSync(path).includes(text));
