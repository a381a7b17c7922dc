// Checks the paths of an archive: each must be allowed, unique and not below a file, and all required paths must exist. The
// limits on entries and metadata bound the memory; without metadata no path is longer than 256 bytes.
import { DomainError, type Problem } from "../../../platform/errors.ts";
import { REPACK } from "./bytes.ts";
import { type ArchiveLimits, quoted, refusal } from "./limits.ts";
import type { TarEntry } from "./tar.ts";

/** A path that the package's adapters require. */
export interface RequiredPath {
  /** relative to the archive's root; `.` components and a trailing slash do not matter */
  path: string;
  kind: TarEntry["kind"];
  /** RFC 6901 pointer to the member that names it */
  pointer: string;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const FORBIDDEN_CHARACTER = /[\\:\0]/;

/** The paths seen so far. A `parent` is a folder without its own entry so far. */
export class ArchivePaths {
  readonly #kinds = new Map<string, TarEntry["kind"] | "parent">();

  /**
   * @returns the path as text, without the trailing slash of a folder
   * @throws DomainError `archive.duplicate_path` and the `archive.path_*` reasons
   */
  add(entry: TarEntry, limits: ArchiveLimits): string {
    const path = checkedPath(entry, limits);
    const known = this.#kinds.get(path);
    if (known === "parent" && entry.kind === "file") throw fileWithChildren(path);
    if (known !== undefined && known !== "parent") {
      throw refusal("duplicate_path", `${quoted(path)} occurs twice`, REPACK);
    }
    this.#addParents(path);
    this.#kinds.set(path, entry.kind);
    return path;
  }

  #addParents(path: string): void {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const parent = path.slice(0, end);
      const kind = this.#kinds.get(parent);
      if (kind === "file") throw fileWithChildren(parent);
      if (kind === undefined) this.#kinds.set(parent, "parent");
    }
  }

  /** @throws DomainError `archive.missing_path` with one problem for each required path that is absent or of another type */
  require(required: readonly RequiredPath[]): void {
    const problems = required.flatMap((wanted) => this.#problemOf(wanted) ?? []);
    if (problems.length === 0) return;
    throw new DomainError("unverified", "archive.missing_path", "the archive lacks required paths", {
      hint: "add them to the archive, or correct the paths; they are relative to the root of the archive",
      problems,
    });
  }

  #problemOf({ path, kind, pointer }: RequiredPath): Problem | undefined {
    const components = path.split("/").filter((component) => component !== "" && component !== ".");
    const found = components.length === 0 ? "directory" : this.#kinds.get(components.join("/"));
    if ((found === "parent" ? "directory" : found) === kind) return undefined;
    const noun = kind === "file" ? "file" : "folder";
    return {
      pointer,
      detail: found
        ? `${quoted(path)} is not a ${noun} in the archive`
        : `the archive has no ${noun} ${quoted(path)}`,
    };
  }
}

const fileWithChildren = (path: string) =>
  refusal("duplicate_path", `${quoted(path)} is a file, but other entries are inside it`, REPACK);

/** @returns the path without the slash that ends a folder */
function checkedPath({ path: bytes, kind }: TarEntry, limits: ArchiveLimits): string {
  const name = quoted(bytes);
  if (bytes.byteLength > limits.pathBytesMax) {
    throw refusal("path_too_long", `the path ${name} has more than ${limits.pathBytesMax} bytes`);
  }
  const text = decoded(bytes, name);
  if (FORBIDDEN_CHARACTER.test(text)) {
    throw refusal(
      "path_character",
      `the path ${name} has a backslash, a colon or a NUL, which are not allowed`,
    );
  }
  if (text.startsWith("/")) throw refusal("path_absolute", `the path ${name} is absolute`, REPACK);
  const path = kind === "directory" && text.endsWith("/") ? text.slice(0, -1) : text;
  checkComponents(path.split("/"), name, limits);
  return path;
}

function decoded(bytes: Uint8Array, name: string): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw refusal("path_not_utf8", `the path ${name} is not UTF-8`, "rename the file, then pack it again");
  }
}

function checkComponents(components: readonly string[], name: string, limits: ArchiveLimits): void {
  if (components.length > limits.pathComponentsMax) {
    throw refusal("path_too_deep", `the path ${name} has more than ${limits.pathComponentsMax} components`);
  }
  const wrong = components.find((component) => component === "" || component === "." || component === "..");
  if (wrong === undefined) return;
  throw refusal(
    "path_component",
    `the path ${name} has ${wrong === "" ? "an empty component" : `the component "${wrong}"`}, which clients refuse`,
    wrong === "." ? `"tar czf … ." begins every path with "./"; ${REPACK}` : REPACK,
  );
}
