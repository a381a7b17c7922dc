// Rules for newly imported archives, stricter than those of clients. They refuse names that are equal or too long on some file
// systems, names that mislead readers, and mode bits that grant rights. Archives stored before these rules stay usable.
import type { DomainError } from "../../../platform/errors.ts";
import { REPACK } from "./bytes.ts";
import { quoted, refusal } from "./limits.ts";

/** Receives each broken rule, and throws it to refuse the archive. */
export type OnBroken = (broken: DomainError) => void;

/** Maximum bytes of one component of a path (NAME_MAX of Linux and macOS). */
export const NAME_BYTES_MAX = 255;
/** Maximum bytes of a whole path. macOS allows 1,023 (PATH_MAX), of which the client's target folder may use 255. */
export const NEW_PATH_BYTES_MAX = 768;

/** Control characters, line and paragraph separators, and characters that change the direction of text. */
const MISLEADING = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
/** Some file systems ignore these characters, for example the zero-width joiner. */
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;
/** Windows drops these characters at the end of a name. */
const DROPPED_AT_END = /[. ]+$/;
const SPECIAL_BITS = [
  [0o4000, "setuid"],
  [0o2000, "setgid"],
  [0o1000, "sticky"],
] as const;

const specialBitsOf = (mode: number): string =>
  SPECIAL_BITS.filter(([bit]) => (mode & bit) !== 0)
    .map(([, name]) => name)
    .join(", ");

/** Checks the entries of one archive, after the rules of clients. */
export class ImportRules {
  /** The first spelling of each path and of its parents, by the key that file systems may compare. */
  readonly #spellings = new Map<string, string>();

  constructor(private readonly onBroken: OnBroken) {}

  /** @param entry `mode` is undefined if the header has no octal number; `path` has no trailing slash */
  check({ path, mode }: { path: string; mode: number | undefined }): void {
    if (MISLEADING.test(path)) this.onBroken(misleading(path));
    this.#checkLength(path);
    this.#checkMode(path, mode);
    this.#checkSpelling(path);
  }

  #checkLength(path: string): void {
    const long = path.split("/").find((name) => Buffer.byteLength(name) > NAME_BYTES_MAX);
    if (long !== undefined) this.onBroken(tooLong("name", { path: long, bytesMax: NAME_BYTES_MAX }));
    if (Buffer.byteLength(path) > NEW_PATH_BYTES_MAX)
      this.onBroken(tooLong("path", { path, bytesMax: NEW_PATH_BYTES_MAX }));
  }

  #checkMode(path: string, mode: number | undefined): void {
    if (mode === undefined) this.onBroken(badMode(path, "a mode that is not an octal number"));
    else if (specialBitsOf(mode) !== "") this.onBroken(badMode(path, `the mode bit ${specialBitsOf(mode)}`));
  }

  #checkSpelling(path: string): void {
    for (let end = path.length; end > 0; end = path.lastIndexOf("/", end - 1)) {
      const spelling = path.slice(0, end);
      const key = comparedName(spelling);
      const known = this.#spellings.get(key);
      if (known === spelling) return; // its parents are known too
      if (known === undefined) this.#spellings.set(key, spelling);
      else this.onBroken(collision(known, spelling));
    }
  }
}

/**
 * @returns the same text for any two paths that a case-insensitive or normalizing file system may treat as equal
 * @source Unicode 3.13, canonical caseless match (D145); lower case followed by upper case equals full case folding
 */
function comparedName(path: string): string {
  const folded = path.normalize("NFD").toLowerCase().toUpperCase().normalize("NFD");
  return folded
    .replace(IGNORABLE, "")
    .split("/")
    .map((component) => component.replace(DROPPED_AT_END, ""))
    .join("/");
}

const collision = (one: string, other: string) =>
  refusal(
    "path_collision",
    `${quoted(one)} and ${quoted(other)} are the same file on some file systems`,
    `rename one of them; ${REPACK}`,
  );

const misleading = (path: string) =>
  refusal(
    "path_misleading",
    `the path ${quoted(path)} has a control character or one that changes the direction of text`,
    `rename it; ${REPACK}`,
  );

const tooLong = (what: "name" | "path", { path, bytesMax }: { path: string; bytesMax: number }) =>
  refusal(
    `${what}_too_long`,
    `the ${what} ${quoted(path)} has more than ${bytesMax} bytes, which some file systems cannot store`,
    `shorten it; ${REPACK}`,
  );

const badMode = (path: string, what: string) =>
  refusal("mode", `${quoted(path)} has ${what}`, `chmod -R u-s,g-s,-t . removes such bits; ${REPACK}`);
