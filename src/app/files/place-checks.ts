// Checks the paths in the settings before a start: the data directory, the folder for backups, and Unix sockets. Creates and opens
// nothing.
import { lstatSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Listen } from "../../platform/config/addresses.ts";
import type { Config } from "../../platform/config/config.ts";
import { codeOf, DomainError } from "../../platform/errors.ts";

/** @returns the problems that prevent a start with these listening addresses */
export const findPlaceProblems = (config: Config, addresses: readonly Listen[]): DomainError[] => [
  ...folderProblems("data_dir", config.get("data_dir")),
  ...folderProblems("backup.directory", config.get("backup.directory")),
  ...addresses.flatMap(socketProblems),
];

/** @throws DomainError `place.not_a_folder` for the first such path */
export function assertFoldersUsable(config: Config): void {
  const [problem] = findPlaceProblems(config, []);
  if (problem) throw problem;
}

/** A missing folder passes: a start creates it, or the operator mounts it. */
function folderProblems(setting: string, folder: string | undefined): DomainError[] {
  if (folder === undefined) return [];
  const path = resolve(folder);
  const found = nearest(path);
  if (found.kind !== "other" && found.kind !== "socket") return [];
  const detail = found.path === path ? "is not a folder" : `is below ${found.path}, which is not a folder`;
  return [
    new DomainError("invalid", "place.not_a_folder", `${setting}: ${path} ${detail}`, {
      hint: `set ${setting} to a folder`,
    }),
  ];
}

/** A missing folder passes: the service manager creates it. */
function socketProblems(address: Listen): DomainError[] {
  if (address.kind === "tcp") return [];
  const path = resolve(address.path);
  const found = nearest(path);
  const wanted: Kind = found.path === path ? "socket" : "folder";
  if (found.kind === wanted) return [];
  if (found.kind === "unknown") {
    const hint = "give this user access to the folders above it, or choose another path for the socket";
    return [new DomainError("forbidden", "listen.not_permitted", `${path} is in a closed folder`, { hint })];
  }
  return [
    new DomainError(
      "invalid",
      "listen.bad_address",
      `no socket can be at ${path}: ${found.path} is in its place`,
      {
        hint: "remove it, or choose another path for the socket",
      },
    ),
  ];
}

type Kind = "folder" | "socket" | "other" | "missing" | "unknown";

/** @returns the path or the nearest folder above it that exists */
function nearest(path: string): { path: string; kind: Kind } {
  const kind = kindOf(path);
  return kind === "missing" && path !== dirname(path) ? nearest(dirname(path)) : { path, kind };
}

/** @returns `unknown` for a path that this user may not access */
function kindOf(path: string): Kind {
  try {
    const found = statSync(path);
    if (found.isDirectory()) return "folder";
    return found.isSocket() ? "socket" : "other";
  } catch (error) {
    const code = codeOf(error) ?? "";
    if (code === "ELOOP" || (code === "ENOENT" && lstatSync(path, { throwIfNoEntry: false }))) return "other"; // a broken link
    return ["ENOENT", "ENOTDIR"].includes(code) ? "missing" : "unknown";
  }
}
