// A replica in a folder, and a script that replaces Litestream and restores it.
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Workspace } from "../in-process.ts";
import { START_MS } from "../world.ts";

/** The term of the other machine. */
export const FIRST = "t00000001-aaaaaa";
const POSITION = "ltx/0/0000000000000001-0000000000000001.ltx";

/** Copies the database of the other machine to the given path. */
const litestreamOf = (term: string): string => `#!/bin/sh
[ "$1 $2 $4" = "restore -config -o" ] || exit 9
grep -q "path: .*/replica/${term}" "$3" || { echo "another term" >&2; exit 8; }
cp "$(dirname "$0")/source.db" "$5"
`;

/**
 * Prepares a machine that can restore a replica of the current `from` with the settings in standby.yaml.
 * @param term of `from`; a later one than FIRST replaces the replica of a former call
 */
export function connect(workspace: Workspace, from: Workspace, term = FIRST): void {
  const { folder } = workspace;
  if (term !== FIRST) rmSync(join(folder, "source.db"), { force: true });
  if (!existsSync(join(folder, "source.db"))) {
    using database = new Database(join(from.data, "quartermaster.db"));
    database.run("VACUUM INTO ?", [join(folder, "source.db")]);
  }
  writeFileSync(join(folder, "litestream"), litestreamOf(term), { mode: 0o700 });
  const position = join(folder, "replica", term, POSITION);
  mkdirSync(join(position, ".."), { recursive: true });
  writeFileSync(position, "");
  utimesSync(position, START_MS / 1000, START_MS / 1000);
  const standby = `{replica: "file://${folder}/replica", litestream: ${folder}/litestream}`;
  writeFileSync(join(folder, "standby.yaml"), `database: {replicated: yes}\nstandby: ${standby}\n`);
}
