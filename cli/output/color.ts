// Decides whether text is colored, and colors words that tell a state. Color only reinforces a word (requirement CLI-5).
import { styleText } from "node:util";
import type { Context, OutputStream } from "../context.ts";

export type StateColor = "green" | "yellow" | "red" | "dim";

/** @returns whether to use color: never in a pipe or with `--no-color`, NO_COLOR or TERM=dumb */
export const hasColor = (stream: OutputStream, env: Context["env"], color: unknown): boolean =>
  stream.isTTY === true && color !== false && !env.NO_COLOR && env.TERM !== "dumb";

/** @returns the text in that color */
export const colored = (text: string, color: StateColor): string =>
  styleText(color, text, { validateStream: false });
