// The machine's git program. Only connections whose host API serves no archives need it.
import { lstatSync } from "node:fs";
import { DomainError } from "../../../../platform/errors.ts";
import { runProgram } from "../../../../platform/programs/program.ts";
import { sourceFault } from "../errors.ts";

/** The oldest version that has every feature we use. */
export const GIT_VERSION_MIN: readonly [number, number] = [2, 30];

/** Limit for git output other than archives. Lists contain only the requested refs. */
export const GIT_OUTPUT_BYTES_MAX = 1024 ** 2;

export interface InstalledGit {
  /** absolute */
  path: string;
  /** such as `2.39.5` */
  version: string;
}

/**
 * @param path absolute; undefined if there is none
 * @param directory private, for the run
 * @throws DomainError `source.git_missing`, also for one that is too old or does not start; `source.too_slow`
 */
export async function installedGit(
  path: string | undefined,
  { directory, signal }: { directory: string; signal: AbortSignal },
): Promise<InstalledGit> {
  if (path === undefined || !lstatSync(path, { throwIfNoEntry: false })) throw sourceFault("git_missing");
  const version = await versionOf(path, { directory, signal });
  if (version === undefined) throw sourceFault("git_missing");
  return { path, version };
}

async function versionOf(
  path: string,
  { directory, signal }: { directory: string; signal: AbortSignal },
): Promise<string | undefined> {
  const program = { path, args: ["version"], directory, environment: { LC_ALL: "C" }, input: "" };
  try {
    const { output } = await runProgram({ ...program, outputBytesMax: GIT_OUTPUT_BYTES_MAX }, signal);
    return supportedGitVersion(Buffer.from(output).toString());
  } catch (error) {
    if (signal.aborted) throw sourceFault("too_slow");
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

/** @returns the version in the output of `git version`; undefined if it is missing or older than GIT_VERSION_MIN */
export function supportedGitVersion(output: string): string | undefined {
  const [, version = "", major = "", minor = ""] = /^git version ((\d+)\.(\d+)\S*)/.exec(output) ?? [];
  const [majorMin, minorMin] = GIT_VERSION_MIN;
  const isFit = Number(major) > majorMin || (Number(major) === majorMin && Number(minor) >= minorMin);
  return version !== "" && isFit ? version : undefined;
}
