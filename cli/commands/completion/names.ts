// The names that a half-typed command line may go on with, from the data directory that it names. Whatever goes wrong, the
// answer is none: nobody reads an error at a key press.
import { type Named, type NameKind, namesIn } from "../../../src/app/installation/completion-names.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import type { Context } from "../../context.ts";
import { printable } from "../../output/printable.ts";

/** operator-experience.md CLI-15 has 200 ms for all; the shell and the start of this program take their part */
export const NAMES_BUDGET_MS = 150;

/**
 * @param given options typed so far, by the member commander would hand them over in
 * @returns none after NAMES_BUDGET_MS
 */
export function namesFor(
  { clock, env, cwd }: Context,
  wanted: { kind: NameKind; prefix: string; given: Readonly<Record<string, string>> },
): readonly Named[] {
  const deadlineMs = clock.nowMs() + NAMES_BUDGET_MS;
  try {
    const config = loadConfig({ flags: wanted.given, env, cwd });
    return namesIn(config.get("data_dir"), { ...wanted, clock, deadlineMs }).filter(isHarmless);
  } catch {
    return [];
  }
}

/** Workstations choose their names: none may become an option of the command, or be shown otherwise than it is. */
const isHarmless = ({ name }: Named): boolean => !name.startsWith("-") && printable(name) === name;
