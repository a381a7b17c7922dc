// Checks that the operator's executable is the pinned one and that no other user can change it. Reports all problems together.
// pinned-executable.ts runs it.
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { codeOf } from "../errors.ts";
import { sha256Hex } from "../ids.ts";

export interface Pin {
  path: string;
  /** 64 lower-case hexadecimal digits */
  sha256: string;
}

export interface PinProblem {
  about: keyof Pin;
  detail: string;
}

export const EXECUTABLE_BYTES_MAX = 256 * 1024 * 1024;

const ANY_EXECUTE = 0o111n;
const OTHERS_WRITE = 0o022n;

/** @returns all problems that prevent running it; empty if it may run */
export const inspectExecutable = (pin: Pin): PinProblem[] => readPinned(pin).problems;

/**
 * @returns the bytes; use them only if no problem was reported. Symbolic links are followed.
 * @source handbook: gateway, How it is run
 */
export function readPinned({ path, sha256 }: Pin): { bytes: Uint8Array; problems: PinProblem[] } {
  const problems: PinProblem[] = [];
  const isDigest = /^[0-9a-f]{64}$/.test(sha256);
  if (!isDigest) problems.push({ about: "sha256", detail: "must be 64 lower-case hexadecimal digits" });
  const wrong = (...details: string[]) => {
    problems.push(...details.map((detail) => ({ about: "path", detail }) as const));
    return { bytes: new Uint8Array(), problems };
  };
  if (!isAbsolute(path)) return wrong("must be an absolute path");
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK); // opening a named pipe must not block
    const status = fstatSync(file, { bigint: true });
    if (!status.isFile()) return wrong(`${path} is not a regular file`);
    if (status.size > EXECUTABLE_BYTES_MAX) {
      return wrong(`${path} has ${status.size} bytes; the limit is ${EXECUTABLE_BYTES_MAX}`);
    }
    wrong(...unsafeBits(path, status), ...unsafeFolders(path));
    const bytes = readFileSync(file);
    const actual = sha256Hex(bytes);
    if (isDigest && actual !== sha256) {
      problems.push({ about: "sha256", detail: `${path} has the digest ${actual}, not ${sha256}` });
    }
    return { bytes, problems };
  } catch (error) {
    return wrong(`${path} cannot be read (${codeOf(error)})`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function unsafeBits(path: string, status: BigIntStats): string[] {
  const isExecutable = (status.mode & ANY_EXECUTE) !== 0n;
  return [
    ...(isExecutable ? [] : [`${path} is not executable; run: chmod u+x ${path}`]),
    ...writableByOthers(path, status),
  ];
}

/** Both the folder of the link and the folder of its target. */
function unsafeFolders(path: string): string[] {
  const folders = new Set([dirname(path), dirname(realpathSync(path))]);
  return [...folders].flatMap((folder) => writableByOthers(folder, statSync(folder, { bigint: true })));
}

function writableByOthers(path: string, { uid, mode }: BigIntStats): string[] {
  const self = ownId();
  const isTrusted = uid === 0n || uid === self;
  return [
    ...(isTrusted ? [] : [`${path} belongs to user id ${uid}; it must belong to root or to user id ${self}`]),
    ...((mode & OTHERS_WRITE) === 0n
      ? []
      : [`${path} can be changed by users other than its owner; run: chmod go-w ${path}`]),
  ];
}

/** @returns the effective user id of this process */
export const ownId = (): bigint => BigInt(process.geteuid?.() ?? 0);
