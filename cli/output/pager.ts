// Shows long texts in the user's pager on a terminal, and prints them directly to a pipe.
import type { Context } from "../context.ts";

/** Default options of `less` if LESS is not set: quit if the text fits one screen, keep colors, leave the text on the screen. */
const LESS_OPTIONS = "FRX";

/**
 * Prints a text; uses $PAGER or `less` when standard output is a terminal.
 * @param text with a line break at its end
 */
export async function printPaged(context: Context, text: string): Promise<void> {
  const { stdout, env } = context;
  const pager = stdout.isTTY === true ? pagerOf(env) : undefined;
  if (pager === undefined) {
    stdout.write(text);
    return;
  }
  context.stopSignal(); // leaves Ctrl-C to the pager
  const child = Bun.spawn(["/bin/sh", "-c", pager], {
    env: { LESS: LESS_OPTIONS, ...env },
    stdin: new Blob([text]),
    stdout: "inherit",
    stderr: "inherit",
  });
  await child.exited;
}

/** @returns the shell command; undefined if PAGER is empty, the terminal is dumb, or no pager is installed */
function pagerOf({ PAGER, TERM, PATH = "" }: Context["env"]): string | undefined {
  if (TERM === "dumb" || PAGER?.trim() === "") return undefined;
  return PAGER ?? (Bun.which("less", { PATH }) === null ? undefined : "less");
}
