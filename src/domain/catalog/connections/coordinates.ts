// Validates the names of repositories, refs and folders that administrators enter. None of them may lead to another path of the host.
/** Maximum characters of one part of a repository's name. */
export const REPOSITORY_PART_CHARACTERS_MAX = 100;
/** GitLab nests groups; every other host has an owner and a name. */
export const REPOSITORY_PARTS_MAX = 8;
export const REF_CHARACTERS_MAX = 255;
export const FOLDER_CHARACTERS_MAX = 768;
export const FOLDER_PARTS_MAX = 31;

const PART = /^(?!\.{1,2}$)[A-Za-z0-9._-]+$/;
const REF = /^(?![-+@])[A-Za-z0-9._/+@-]+(?<![+@])$/;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** The coordinates that an administrator enters. */
export interface Coordinates {
  /** `namespace/name`, with GitLab also `group/subgroup/name` */
  repository: string;
  /** branch, tag or whole commit */
  ref: string;
  /** folder of the repository; empty for the whole repository */
  path: string;
}

const isPart = (part: string): boolean => PART.test(part) && part.length <= REPOSITORY_PART_CHARACTERS_MAX;

/** @returns whether it has two parts, or up to REPOSITORY_PARTS_MAX with `nested` */
export function isRepository(text: string, { nested }: { nested: boolean }): boolean {
  const parts = text.split("/");
  return parts.length >= 2 && parts.length <= (nested ? REPOSITORY_PARTS_MAX : 2) && parts.every(isPart);
}

/** @source git-check-ref-format(1), minus characters that no host needs */
export const isRef = (text: string): boolean =>
  text.length <= REF_CHARACTERS_MAX &&
  REF.test(text) &&
  !text.includes("@{") &&
  !text.includes("..") &&
  text.split("/").every((part) => !["", ".", "..", "@"].includes(part) && !part.endsWith(".lock"));

/** @returns whether it names a folder below the root; empty text names the root */
export function isFolder(text: string): boolean {
  if (text === "") return true;
  const parts = text.split("/");
  return (
    text.length <= FOLDER_CHARACTERS_MAX &&
    parts.length <= FOLDER_PARTS_MAX &&
    parts.every((part) => part !== "" && part !== "." && part !== "..") &&
    !/[\p{Cc}\\:]/u.test(text)
  );
}

/** @returns whether it is a complete object name (SHA-1 or SHA-256) */
export const isCommit = (text: string): boolean => COMMIT.test(text);

/** @returns whether one of the namespaces, in any case, contains the repository; with GitLab a group contains its subgroups */
export function isInNamespaces(repository: string, namespaces: readonly string[]): boolean {
  const parts = repository.toLowerCase().split("/");
  const above = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
  return namespaces.some((namespace) => namespace === "*" || above.includes(namespace.toLowerCase()));
}
