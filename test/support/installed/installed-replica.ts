// A replica in a folder, and a script in place of Litestream that restores it.
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Workspace } from "../in-process.ts";
import { START_MS } from "../world.ts";

/** The term of the other machine. */
export const FIRST = "t00000001-aaaaaa";
const POSITION = `${FIRST}/ltx/0/0000000000000001-0000000000000001.ltx`;

/** Copies the database of the other machine to the given path. */
const LITESTREAM = `#!/bin/sh
[ "$1 $2 $4" = "restore -config -o" ] || exit 9
grep -q "path: .*/replica/${FIRST}" "$3" || { echo "another term" >&2; exit 8; }
cp "$(dirname "$0")/source.db" "$5"
`;

/** Prepares a machine on which a replica of `from`, as it is now, can be restored with the settings in standby.yaml. */
export function connect(workspace: Workspace, from: Workspace): void {
  const { folder } = workspace;
  if (!existsSync(join(folder, "source.db"))) {
    using database = new Database(join(from.data, "quartermaster.db"));
    database.run("VACUUM INTO ?", [join(folder, "source.db")]);
  }
  writeFileSync(join(folder, "litestream"), LITESTREAM, { mode: 0o700 });
  const position = join(folder, "replica", POSITION);
  mkdirSync(join(position, ".."), { recursive: true });
  writeFileSync(position, "");
  utimesSync(position, START_MS / 1000, START_MS / 1000);
  const standby = `{replica: "file://${folder}/replica", litestream: ${folder}/litestream}`;
  writeFileSync(join(folder, "standby.yaml"), `database: {replicated: yes}\nstandby: ${standby}\n`);
}
