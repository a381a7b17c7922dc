// Gives a data directory to an ordinary user, so that commands that root starts run as a user to whom file permissions apply.
import { chmodSync, chownSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { NOBODY } from "./cli/child.ts";
import type { Workspace } from "./in-process.ts";

/** Only root can. */
export function giveAway({ folder, data }: Pick<Workspace, "folder" | "data">): void {
  chmodSync(folder, 0o755);
  const names = readdirSync(data, { recursive: true }).map(String);
  for (const path of [data, ...names.map((name) => join(data, name))]) chownSync(path, NOBODY, NOBODY);
}
