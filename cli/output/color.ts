// Decides whether text is colored, and colors words that name a state. Color only reinforces a word (requirement CLI-5).
import { styleText } from "node:util";
import type { Context, OutputStream } from "../context.ts";

export type StateColor = "green" | "yellow" | "red" | "dim";

/** @returns whether to use color: never in a pipe or with `--no-color`, NO_COLOR or TERM=dumb */
export const hasColor = (stream: OutputStream, env: Context["env"], color: unknown): boolean =>
  stream.isTTY === true && color !== false && !env.NO_COLOR && env.TERM !== "dumb";

export const colored = (text: string, color: StateColor): string =>
  styleText(color, text, { validateStream: false });

/** Words of states in every table, by their meaning to the operator. Other words keep the default color. */
const COLOR_OF_STATE: ReadonlyMap<string | null, StateColor> = new Map([
  ...["active", "approved", "available", "current", "ready", "succeeded"].map(
    (word) => [word, "green"] as const,
  ),
  ...["attention", "changed", "outdated", "paused", "pending", "recovering", "stopped", "suspended"].map(
    (word) => [word, "yellow"] as const,
  ),
  ...["error", "failed", "invalid", "timed_out"].map((word) => [word, "red"] as const),
  ...["ended", "expired", "redeemed", "refused", "removed", "revoked"].map((word) => [word, "dim"] as const),
]);

/** @returns the color of a state; undefined for the default */
export const colorOf = (state: string | null): StateColor | undefined => COLOR_OF_STATE.get(state);
