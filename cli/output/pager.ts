// Long texts on a terminal go through the pager of the user. A pipe gets them as they are.
import type { Context } from "../context.ts";

/** What `less` does unless LESS says otherwise: end at once where all fits, keep colors, keep the text on the screen. */
const LESS_OPTIONS = "FRX";

/**
 * Prints a text, through $PAGER or `less` where standard output is a terminal.
 * @param text with a line break at its end
 */
export async function printPaged(context: Context, text: string): Promise<void> {
  const { stdout, env } = context;
  const pager = stdout.isTTY === true ? pagerOf(env) : undefined;
  if (pager === undefined) {
    stdout.write(text);
    return;
  }
  context.stopSignal(); // Ctrl-C is for the pager
  const child = Bun.spawn(["/bin/sh", "-c", pager], {
    env: { LESS: LESS_OPTIONS, ...env },
    stdin: new Blob([text]),
    stdout: "inherit",
    stderr: "inherit",
  });
  await child.exited;
}

/** @returns the shell command; undefined where PAGER is empty, the terminal is dumb, or no pager is installed */
function pagerOf({ PAGER, TERM, PATH = "" }: Context["env"]): string | undefined {
  if (TERM === "dumb" || PAGER?.trim() === "") return undefined;
  return PAGER ?? (Bun.which("less", { PATH }) === null ? undefined : "less");
}
