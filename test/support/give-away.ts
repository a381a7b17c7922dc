// Gives a data directory to an ordinary user, so that commands started by root run as a user with file permissions.
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
