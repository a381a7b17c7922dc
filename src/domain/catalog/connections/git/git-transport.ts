// Reads repositories with the git program of the machine: resolves a ref to a commit, and fetches the archive of a commit. No
// code of a repository runs: nothing is checked out, and git uses our settings only, without hooks, filters or submodules. Each
// run has a private folder, which the caller removes.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DomainError } from "../../../../platform/errors.ts";
import { type ProgramEnd, runProgram } from "../../../../platform/programs/program.ts";
import { diskFull, proxyFault, rateLimited, type SourceFault, sourceFault } from "../errors.ts";
import {
  type GitPlaces,
  type GitRemote,
  gitEnvironment,
  gitSettings,
  WITH_SETTINGS,
} from "./git-settings.ts";
import { GIT_OUTPUT_BYTES_MAX, type InstalledGit, installedGit } from "./installed-git.ts";

/** Maximum disk space for fetching one commit without its history. */
export const GIT_FOLDER_BYTES_MAX = 300 * 1024 ** 2;
const ERROR_BYTES_KEPT = 64 * 1024;
/** Length of an object name with SHA-256. */
const LONG_NAME = 64;

export interface GitRun {
  remote: GitRemote;
  /** all trusted certificate authorities, in PEM */
  authorities: string;
  /** a private, empty folder */
  folder: string;
  signal: AbortSignal;
}

/** The target of an archive, and its maximum size. */
export interface GitArchiveTarget {
  /** open file */
  file: number;
  /** path of that file */
  path: string;
  bytesMax: number;
  /** @returns the error for a larger archive */
  refuse(): DomainError;
}

/** Each method throws DomainError `source.*`. */
export class GitTransport {
  #installed: Promise<InstalledGit> | undefined;

  /** @param path absolute path of git; undefined if the machine has none */
  constructor(private readonly path: string | undefined) {}

  /** Looks the program up once. @returns the git program @throws DomainError `source.git_missing` */
  async installed({ folder, signal }: Pick<GitRun, "folder" | "signal">): Promise<InstalledGit> {
    this.#installed ??= installedGit(this.path, { directory: folder, signal });
    return await this.#installed;
  }

  /** @param names whole names of refs @returns the object names of those that exist, under `^{}` what an annotated tag points to */
  async refs(run: GitRun, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const git = await this.#prepare(run);
    const patterns = names.flatMap((name) => [name, `${name}^{}`]);
    const listing = await git(["ls-remote", "--quiet", run.remote.url, ...patterns]);
    return new Map(refLines(listing).filter(([name]) => patterns.includes(name)));
  }

  /**
   * Fetches one commit without its history, and writes its tar archive.
   * @param path folder of the repository; empty for all of it
   * @returns the time of the commit, UTC milliseconds; undefined if the commit has no such folder
   * @throws DomainError `source.too_large`; the errors of the target
   */
  async archive(
    run: GitRun,
    { commit, path }: { commit: string; path: string },
    target: GitArchiveTarget,
  ): Promise<{ committedAtMs: number | undefined } | undefined> {
    const git = await this.#prepare(run);
    const format = commit.length === LONG_NAME ? ["--object-format=sha256"] : [];
    await git(["init", "--bare", "--quiet", "--template=", ...format, placesIn(run.folder).repository]);
    await git([...FETCH, run.remote.url, commit]);
    const committedAtMs = timeOf(commit, await git(["log", "-1", "--no-walk", "--format=%H %ct", commit]));
    const wanted =
      path === "" ? [] : partsIn(await git(["ls-tree", "-z", commit, "--", SUBMODULES, path]), path);
    if (!wanted) return undefined;
    await git(["archive", "--format=tar", `--prefix=${TOP}/`, commit, "--", ...wanted], target);
    return { committedAtMs };
  }

  async #prepare(run: GitRun) {
    const { remote, authorities, folder, signal } = run;
    const { path } = await this.installed(run);
    const places = placesIn(folder);
    await mkdir(places.home, { mode: 0o700 });
    await writeFile(places.authorities, authorities, { mode: 0o600, flag: "wx" });
    const program = {
      path,
      directory: folder,
      workingDirectory: folder,
      input: "",
      environment: gitEnvironment(places),
      sharedText: gitSettings(remote, places),
      outputBytesMax: GIT_OUTPUT_BYTES_MAX,
      errorBytesMax: ERROR_BYTES_KEPT,
    };
    return async (args: readonly string[], target?: GitArchiveTarget): Promise<string> => {
      const filled = target
        ? { path: target.path, bytesMax: target.bytesMax }
        : { path: folder, bytesMax: GIT_FOLDER_BYTES_MAX };
      const output = target && { outputFile: target.file };
      const invocation = { ...program, args: [...WITH_SETTINGS, ...args], filled, ...output };
      try {
        return textOf(await runProgram(invocation, signal));
      } catch (error) {
        throw programFault(error, target?.refuse);
      }
    };
  }
}

/** Folder around everything in an archive; a later step removes it. */
const TOP = "archive";
const SUBMODULES = ".gitmodules";
const FETCH = [
  ...["fetch", "--quiet", "--depth=1", "--no-tags", "--no-write-fetch-head"],
  ...["--no-recurse-submodules", "--no-auto-maintenance"],
];

const placesIn = (folder: string): GitPlaces => ({
  home: join(folder, "home"),
  authorities: join(folder, "authorities.pem"),
  repository: join(folder, "repository.git"),
});

/** @returns the `source.*` error for a program that was killed or not started; other errors unchanged */
function programFault(
  error: unknown,
  tooLarge: () => DomainError = () => sourceFault("repository_too_large"),
): unknown {
  if (!(error instanceof DomainError)) return error;
  if (error.reason === "program.folder_too_large") return tooLarge();
  const what = PROGRAM_FAULTS[error.reason];
  return what ? sourceFault(what, error) : error;
}

const PROGRAM_FAULTS: Readonly<Record<string, SourceFault>> = {
  "program.too_slow": "too_slow",
  "program.not_started": "git_missing",
  "program.output_too_large": "bad_answer",
};

const HOST_LINE = /^remote: /;
/** Messages of the operating system. */
const DISK_FULL = /No space left on device|Disk quota exceeded/;

/** Messages of old and new versions of libcurl. */
const PROXY_REFUSAL = /Received HTTP code (\d{3}) from proxy|CONNECT tunnel failed, response (\d{3})/;

/** The first match decides. */
const MEANINGS: readonly [RegExp, SourceFault][] = [
  [/not our ref|unadvertised object|no such remote ref|couldn't find remote ref/i, "ref_not_found"],
  [/remote-https' is not a git command|unable to find remote helper/, "git_missing"],
  [/could not read (?:Username|Password)|Authentication failed/, "credential_refused"],
  [/repository '.*' not found/, "repository_not_found"],
  [/fsck error|error in object|object fsck|bad (?:tree|commit|tag) object/i, "objects_refused"],
  [/not valid: is this a git repository|dumb http transport|invalid server response/, "bad_answer"],
  [/certificate|\bSSL\b|\bTLS\b|gnutls/i, "tls_untrusted"],
];

/**
 * Maps the messages of git to errors. git always runs in the same language, and errors never repeat its text. Lines from the
 * host are ignored, except the one that names a missing object.
 * @returns the error for a run that failed
 */
export function gitFault(errors: string): DomainError {
  const lines = errors.split("\n").filter((line) => !HOST_LINE.test(line));
  const text = lines.join("\n");
  if (DISK_FULL.test(text)) return diskFull();
  const [, status] = /requested URL returned error: (\d{3})/.exec(text) ?? [];
  if (status !== undefined) return faultOfStatus(Number(status));
  const [, proxyStatus, tunnelStatus = proxyStatus] = PROXY_REFUSAL.exec(text) ?? [];
  if (tunnelStatus !== undefined) return proxyFault(Number(tunnelStatus));
  return sourceFault(MEANINGS.find(([pattern]) => pattern.test(text))?.[1] ?? "host_down");
}

function faultOfStatus(status: number): DomainError {
  if (status === 429) return rateLimited(undefined);
  if (status === 401 || status === 403) return sourceFault("credential_refused");
  if (status === 404) return sourceFault("repository_not_found");
  return sourceFault(status >= 500 ? "host_down" : "bad_answer");
}

function textOf({ exitCode, output, errors }: ProgramEnd): string {
  if (exitCode === 0) return Buffer.from(output).toString();
  throw gitFault(Buffer.from(errors).toString());
}

function refLines(output: string): [name: string, object: string][] {
  return output.split("\n").flatMap((line) => {
    const [, object, name] = /^([0-9a-f]{40}|[0-9a-f]{64})\t(\S+)$/.exec(line) ?? [];
    return object === undefined || name === undefined ? [] : [[name, object]];
  });
}

/**
 * The archive of a folder also includes the list of submodules, which distinguishes a submodule from a folder without files.
 * @returns the paths to archive; undefined if the folder is missing
 */
function partsIn(listing: string, path: string): string[] | undefined {
  const entries = listing.split("\0").map((line) => /^\d+ (\w+) \w+\t(.*)$/s.exec(line)?.slice(1) ?? []);
  const has = (type: string, name: string) => entries.some(([t, n]) => t === type && n === name);
  if (!has("tree", path)) return undefined;
  return has("blob", SUBMODULES) ? [SUBMODULES, path] : [path];
}

/** The name may belong to another kind of object, such as a tag. */
function timeOf(commit: string, output: string): number | undefined {
  const [name, seconds] = output.trim().split(" ");
  if (name !== commit) throw sourceFault("ref_not_found");
  return seconds !== undefined && /^\d{1,11}$/.test(seconds) ? Number(seconds) * 1_000 : undefined;
}
