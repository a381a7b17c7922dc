// Reads ids and names for completion from the data directory of the command line. Any failure returns no names, because a shell
// cannot show an error while the user types.
import { type Named, type NameKind, namesIn } from "../../../src/app/installation/known-names.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import type { Context } from "../../context.ts";
import { printable } from "../../output/printable.ts";

/** Requirement CLI-15 allows 200 ms in total; the shell and the start of this program need the rest. */
const NAMES_BUDGET_MS = 150;

/**
 * @param wanted `given` has the options typed so far, by the attribute name of commander
 * @returns matching names; none if reading takes longer than NAMES_BUDGET_MS
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

/** Workstations choose their own names, so a name must not be read as an option or contain invisible characters. */
const isHarmless = ({ name }: Named): boolean => !name.startsWith("-") && printable(name) === name;
