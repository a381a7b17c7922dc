// Finds the files that an operator names. `backup list` prints bare names, and people pass them as they are.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { backupFolder } from "../../../src/app/backup/backup.ts";
import { placesIn } from "../../../src/platform/data-directory/data-directory.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { shellWord } from "../../../src/platform/text/shell-word.ts";
import type { SettingsCall } from "../../data-directory/in-domain.ts";

/**
 * A name never means another file than in other programs, so a file in the backup folder is only proposed.
 * @returns the absolute path, whether or not a file exists there
 * @throws DomainError `file.missing` if only the backup folder has a file of this name
 */
export function givenFile({ context, config }: SettingsCall, name: string): string {
  const path = resolve(context.cwd, name);
  if (existsSync(path) || name === "" || name.includes("/")) return path;
  const kept = join(backupFolder(config, placesIn(resolve(config.get("data_dir")))), name);
  if (!existsSync(kept)) return path;
  throw new DomainError("not_found", "file.missing", `there is no file ${path}`, {
    hint: `did you mean ${shellWord(kept)}?`,
  });
}
