// Reads the archive of a repository as its host packs it: removes the generated outer folder, keeps only one folder of the
// repository if wanted, and collects entries that no workstation would accept. Files are passed on as they arrive.

import { DomainError, type ErrorKind, type Problem, pointerOf } from "../../../platform/errors.ts";
import { type ByteSource, metered, ByteSource as Source } from "../../../platform/files/byte-source.ts";
import { gunzip, truncated } from "../archive/bytes.ts";
import { ImportRules } from "../archive/import-rules.ts";
import { ARCHIVE_LIMITS, type ArchiveLimits, quoted, refusal } from "../archive/limits.ts";
import { ArchivePaths } from "../archive/paths.ts";
import { type ReadableEntry, type RefusedEntry, readTar } from "../archive/tar.ts";
import { isCommit } from "../connections/coordinates.ts";
import { sourceFault } from "../connections/errors.ts";
import type { MirroredFile } from "./mirror-format.ts";

/** Maximum number of unacceptable entries to list. */
export const PROBLEMS_LISTED_MAX = 20;
/** Maximum number of skipped links to list. */
export const SKIPPED_LISTED_MAX = 100;

/** A pointer that replaces a large file begins with this line (git-lfs specification, "The Pointer"). */
const LFS_SIGNATURE = "version https://git-lfs.github.com/spec/";
/** A pointer is never larger (git-lfs specification). */
const LFS_POINTER_BYTES_MAX = 1_024;
const SUBMODULES_FILE = Buffer.from(".gitmodules");

export interface HostArchiveOptions {
  /** the folder of the repository to keep; empty for the whole repository */
  path: string;
  /** leaves symbolic links out instead of refusing them */
  skipLinks: boolean;
  /** compression of the archive; default: gzip */
  compression?: "gzip" | "none" | undefined;
  /** required object name, if the archive has one; default: any */
  commit?: string | undefined;
  /** overrides some of ARCHIVE_LIMITS */
  limits?: Partial<ArchiveLimits>;
}

export interface HostArchive {
  files: number;
  /** the first SKIPPED_LISTED_MAX paths of skipped symbolic links */
  skipped: string[];
}

/** Receives the files of an archive, in the host's order, and each piece of their content. */
export interface FileTaker {
  add(file: MirroredFile, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void>;
}

/**
 * Reads a whole archive. Passes on no more files after the first unacceptable entry.
 * @param stream the compressed bytes
 * @throws DomainError `archive.*` with a problem for each unacceptable entry, `source.path_not_found`, `source.not_an_archive`;
 * errors of the stream
 */
export async function readHostArchive(
  stream: AsyncIterable<Uint8Array>,
  taker: FileTaker,
  { path, skipLinks, commit, compression = "gzip", limits: changed = {} }: HostArchiveOptions,
): Promise<HostArchive> {
  const limits = { ...ARCHIVE_LIMITS, ...changed };
  const reading = new Reading(taker, { path, skipLinks, limits });
  const source: ByteSource = new Source(expanded(stream, compression, limits), truncated);
  try {
    const onRefused = (refused: RefusedEntry) => reading.refuse(refused);
    const onComment = (comment: string) => refuseOther(comment, commit);
    for await (const entry of readTar(source, limits, { onRefused, onComment })) await reading.take(entry);
  } finally {
    await source.close();
  }
  return reading.end();
}

function expanded(
  stream: AsyncIterable<Uint8Array>,
  compression: "gzip" | "none",
  limits: ArchiveLimits,
): AsyncIterable<Uint8Array> {
  const { compressedBytesMax, expandedBytesMax } = limits;
  const compressed = {
    bytes: 0,
    max: compressedBytesMax,
    refuse: () => tooLarge(`the archive of the host has more than ${compressedBytesMax} bytes`),
  };
  const unpacked = {
    bytes: 0,
    max: expandedBytesMax,
    refuse: () => expandsTooLarge(expandedBytesMax),
  };
  return metered(compression === "gzip" ? gunzip(metered(stream, compressed)) : stream, unpacked);
}

/** git writes the commit of an archive as a comment (git-get-tar-commit-id(1)); other comments are ignored. */
function refuseOther(comment: string, commit: string | undefined): void {
  if (commit !== undefined && isCommit(comment) && comment !== commit) throw sourceFault("other_commit");
}

/** @returns the error for a repository with more bytes than an unpacked archive may have */
export const expandsTooLarge = (bytesMax: number): DomainError =>
  refusal("expands_too_large", `the repository has more than ${bytesMax} bytes`);

export const SIZE_REMEDY =
  "exclude files that the package does not need from git archives with export-ignore, or mirror only a folder (GitHub and Gitea still send the whole repository)";

/** @returns the error for more bytes than any archive may have */
export const tooLarge = (message: string): DomainError =>
  new DomainError("invalid", "source.too_large", message, { hint: SIZE_REMEDY });

class Reading {
  readonly #files: string[] = [];
  readonly #folders = new Set<string>();
  readonly #skipped: string[] = [];
  readonly #problems: Problem[] = [];
  readonly #reasons = new Set<string>();
  readonly #paths = new ArchivePaths();
  readonly #rules = new ImportRules((broken) => this.#problem(broken));
  #entries = 0;
  #top: string | undefined;
  #hasSubmodules = false;

  constructor(
    private readonly taker: FileTaker,
    private readonly options: { path: string; skipLinks: boolean; limits: ArchiveLimits },
  ) {}

  async take(entry: ReadableEntry): Promise<void> {
    const own = this.#placeOf(entry.path);
    if (own === undefined) return;
    if (entry.kind === "directory") {
      this.#folders.add(own.toString().replace(/\/$/, ""));
      return;
    }
    const path = this.#checked(entry, own);
    if (path === undefined) return;
    this.#files.push(path);
    const { sizeBytes, mode = 0 } = entry;
    const file = { path, sizeBytes, isExecutable: (mode & 0o111) !== 0 };
    if (sizeBytes > LFS_POINTER_BYTES_MAX) {
      await this.#pass(file, entry.pieces());
      return;
    }
    const content = await entry.read();
    if (isLfsPointer(content)) this.#problem(lfsPointer(path));
    await this.#pass(file, [content]);
  }

  /** After a problem, the content stays unread, and the reader skips it. */
  async #pass(...file: Parameters<FileTaker["add"]>): Promise<void> {
    if (this.#problems.length === 0) await this.taker.add(...file);
  }

  /** Skips a link, or records it as a problem. */
  refuse({ kind, path: bytes, errorOf }: RefusedEntry): void {
    const own = this.#placeOf(bytes);
    if (own === undefined) return;
    if (kind !== "symbolic_link") this.#problem(errorOf(own));
    else if (!this.options.skipLinks) this.#problem(symbolicLink(own));
    else if (this.#skipped.length < SKIPPED_LISTED_MAX) this.#skipped.push(shown(own));
  }

  end(): HostArchive {
    for (const folder of this.#submodules()) this.#problem(submodule(folder));
    this.#throwProblems();
    if (this.#files.length === 0) throw this.options.path === "" ? isEmpty() : noPath(this.options.path);
    return { files: this.#files.length, skipped: this.#skipped };
  }

  /** @returns the path in the mirrored archive; undefined for the generated folder and for entries outside the wanted folder */
  #placeOf(bytes: Uint8Array): Buffer | undefined {
    this.#entries += 1;
    const { entriesMax } = this.options.limits;
    if (this.#entries > entriesMax)
      throw refusal("too_many_entries", `the repository has more than ${entriesMax} files and folders`);
    const text = Buffer.from(bytes).toString("latin1");
    const slash = text.indexOf("/");
    const top = slash === -1 ? text : text.slice(0, slash);
    this.#top ??= top;
    if (top !== this.#top || slash === -1) throw notOneFolder();
    return this.#wanted(Buffer.from(bytes.subarray(slash + 1)));
  }

  #wanted(path: Buffer): Buffer | undefined {
    if (path.equals(SUBMODULES_FILE)) this.#hasSubmodules = true;
    const prefix = Buffer.from(this.options.path === "" ? "" : `${this.options.path}/`);
    const isInside =
      path.byteLength > prefix.byteLength && path.subarray(0, prefix.byteLength).equals(prefix);
    return isInside ? path.subarray(prefix.byteLength) : undefined;
  }

  /** @returns the path as text; undefined if the entry is not acceptable */
  #checked(entry: ReadableEntry, bytes: Buffer): string | undefined {
    try {
      const path = this.#paths.add({ ...entry, path: bytes }, this.options.limits);
      this.#rules.check({ path, mode: entry.mode });
      return path;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      this.#problem(error);
      return undefined;
    }
  }

  /** git stores no empty folders, so a folder without files is the place of a submodule. */
  #submodules(): string[] {
    if (!this.#hasSubmodules) return [];
    const used = new Set(this.#files.flatMap(foldersOf));
    return [...this.#folders].filter((folder) => !used.has(folder));
  }

  /** Omits the hints of the archive reader, which are for people who pack an archive themselves. */
  #problem({ reason, message }: DomainError): void {
    this.#reasons.add(reason);
    if (this.#problems.length >= PROBLEMS_LISTED_MAX) return;
    this.#problems.push({ pointer: pointerOf(["entries", this.#entries - 1]), detail: message });
  }

  #throwProblems(): void {
    const [first, ...others] = this.#problems;
    if (!first) return;
    const [reason = "archive.entries"] = this.#reasons.size === 1 ? this.#reasons : [];
    const more = others.length === 0 ? "" : `, and ${others.length} more`;
    const text = `workstations would refuse the archive of this commit: ${first.detail}${more}`;
    throw new DomainError("invalid", reason, text, {
      problems: this.#problems,
      hint: REMEDIES[reason] ?? REMEDY,
    });
  }
}

/** @returns every folder above a path */
function foldersOf(path: string): string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}

const isLfsPointer = (content: Uint8Array): boolean =>
  Buffer.from(content.subarray(0, LFS_SIGNATURE.length)).toString("latin1") === LFS_SIGNATURE;

/** @returns the path, shortened and without invisible or control characters */
const shown = (path: Uint8Array): string => quoted(path).slice(1, -1);

const symbolicLink = (path: Uint8Array) => refusal("link", `${quoted(path)} is a symbolic link`);

const lfsPointer = (path: string) =>
  refusal("lfs_pointer", `${quoted(path)} is a Git LFS pointer, not the file`);

const submodule = (path: string) =>
  refusal("submodule", `${quoted(path)} belongs to a submodule, whose files are in another repository`);

/** Remedies in the repository, by the reason of the error. */
const REMEDIES: Readonly<Record<string, string>> = {
  "archive.link": "replace the links with files, or ask the operator to set skip_links of the connection",
  "archive.lfs_pointer": "commit the files themselves, without Git LFS",
  "archive.submodule": "copy its files into the repository, or mirror that repository",
};
const REMEDY = "rename or remove these entries in the repository, or mirror a folder without them";

/** @returns the error for an archive that is damaged, incomplete or packed differently */
export const notAnArchive = (message: string): DomainError => noArchive("invalid", message);

/** @returns the error for a host that sends nothing, or something else such as a sign-in page */
export const answeredNoArchive = (): DomainError =>
  noArchive("upstream", "the host sent something that is not an archive");

const noArchive = (kind: ErrorKind, message: string): DomainError =>
  new DomainError(kind, "source.not_an_archive", message, {
    hint: "try again; if that does not help, the operator runs `quartermaster connections verify`",
  });

const notOneFolder = () => notAnArchive("the host sent an archive without a single outer folder");

const isEmpty = () => refusal("empty", "the repository has no files at this commit");

/** @returns the error for a folder that the commit does not have */
export const noPath = (path: string) =>
  new DomainError(
    "invalid",
    "source.path_not_found",
    `the repository has no folder ${quoted(path)} with files at this commit`,
  );
