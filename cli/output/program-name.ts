// Finds the name or path of this program for the command lines that it prints.
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { shellWord } from "../../src/platform/text/shell-word.ts";
import type { Context } from "../context.ts";

/**
 * @returns the name if the shell finds this executable by it, otherwise the path. A program that runs from source has
 * no executable, and a user of npx may have no `bun` installed.
 */
export function programName({ env }: Pick<Context, "env">): string {
  if (!Bun.isStandaloneExecutable) return `npx -y bun@${Bun.version} src/main.ts`;
  const own = realpathSync(process.execPath);
  const name = basename(process.execPath);
  const found = Bun.which(name, { PATH: env.PATH ?? "" });
  return found !== null && realpathSync(found) === own ? name : shellWord(process.execPath);
}
