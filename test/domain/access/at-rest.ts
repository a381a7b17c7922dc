// The texts that a thief of the database can read.
import { existsSync, readFileSync } from "node:fs";

/** @returns whether the text occurs anywhere in the database file or its write-ahead log */
export const isAtRest = (file: string, text: string): boolean =>
  [file, `${file}-wal`].some((path) => existsSync(path) && readFileSync(path).includes(text));
