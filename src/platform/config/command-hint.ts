// Commands in messages, with the options that they need to find the same settings and data.
import { resolve } from "node:path";
import { shellWord } from "../text/shell-word.ts";
import type { Config } from "./config.ts";

/**
 * @param words a command without the name of the program
 * @returns the command, with the configuration file in effect, and with the data directory if it was given too
 */
export function commandWith(config: Pick<Config, "file" | "get" | "rowOf">, words: string): string {
  const file = config.file === undefined ? "" : ` --config ${shellWord(config.file)}`;
  const { origin } = config.rowOf("data_dir");
  const isGiven = origin === "flag" || origin === "environment";
  const directory = isGiven ? ` --data-dir ${shellWord(resolve(config.get("data_dir")))}` : "";
  return `quartermaster ${words}${file}${directory}`;
}
