// Only the owner uses a data directory: root becomes that user, and an error names the owner to any other user.
// data-directory.ts has the paths.
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DomainError } from "../errors.ts";

/**
 * If started as root, permanently becomes the user and group that own `path`, so that no file in it belongs to root. Does
 * nothing for any other user, for a missing path, or for a directory that root owns.
 * @throws DomainError `data_dir.not_writable` if this root may not change its user; `data_dir.closed_folder` if the owner
 * may not enter a parent folder
 * @source CLI-20
 */
export function switchToOwner(path: string): void {
  if (process.geteuid?.() !== 0 || !existsSync(path)) return;
  const owner = statSync(path);
  if (owner.uid === 0) return;
  try {
    process.setgroups?.([owner.gid]);
    process.setgid?.(owner.gid);
    process.setuid?.(owner.uid);
  } catch (error) {
    throw unchangeable(path, owner.uid, error); // root of a container that may not change its user
  }
  fileExists(path);
}

/**
 * @returns whether something exists at `path`
 * @throws DomainError `data_dir.closed_folder` if this user may not enter a parent folder
 */
export function fileExists(path: string): boolean {
  try {
    statSync(path);
    return true;
  } catch (error) {
    if (Object(error).code === "EACCES") throw inaccessibleFolder(path, error);
    return false;
  }
}

/** @throws DomainError `data_dir.foreign_owner`, which names the owner */
export function refuseForeignOwner(path: string): void {
  const { uid } = statSync(path);
  if (uid === ownId()) return;
  const who = `${nameOf(uid)}, and this runs as ${nameOf(ownId())}`;
  throw new DomainError(
    "forbidden",
    "data_dir.foreign_owner",
    `the data directory ${path} belongs to ${who}`,
    { hint: `run as that user, for example: sudo -u ${accountName(uid) ?? `'#${uid}'`} quartermaster …` },
  );
}

const ownId = (): number | undefined => process.geteuid?.();

const unchangeable = (path: string, uid: number, cause: unknown): DomainError =>
  new DomainError(
    "forbidden",
    "data_dir.not_writable",
    `the data directory ${path} belongs to ${nameOf(uid)}, and this root may not become that user`,
    { hint: "run as the owner of that directory", cause },
  );

function inaccessibleFolder(path: string, cause: unknown): DomainError {
  let folder = dirname(path);
  while (!existsSync(folder)) folder = dirname(folder);
  const owner = nameOf(statSync(folder).uid);
  return new DomainError(
    "forbidden",
    "data_dir.closed_folder",
    `the data directory ${path} is in ${folder}, which belongs to ${owner} and which ${nameOf(ownId())} may not enter`,
    {
      hint: "run as the owner of the data directory, who must be able to enter every folder above it",
      cause,
    },
  );
}

/** @returns `nobody (user id 65534)`; only the id for a user of a directory service */
function nameOf(uid: number | undefined): string {
  const name = accountName(uid);
  return name === undefined ? `user id ${uid}` : `${name} (user id ${uid})`;
}

/** @returns the name of the id in this machine's own list of users; the environment is not trusted */
export const accountName = (uid: number | undefined): string | undefined =>
  accounts().find(([, , id]) => id === String(uid))?.[0];

/** passwd(5) */
function accounts(): string[][] {
  try {
    return readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .map((line) => line.split(":"));
  } catch {
    return []; // the id is enough
  }
}
