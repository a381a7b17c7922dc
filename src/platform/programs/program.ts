// Runs one program to its end: no shell, its own environment, bounded output, one deadline, and no process of its group left
// afterwards. pinned-executable.ts verifies the bytes.
import { closeSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf, DomainError } from "../errors.ts";
import { openOwnFile } from "../files/data-files.ts";
import { type FolderLimit, watchFolder } from "./folder-limit.ts";

export interface Invocation {
  /** the whole environment; nothing is inherited */
  environment: Readonly<Record<string, string>>;
  /** standard input */
  input: string;
  /** a program that prints more is killed */
  outputBytesMax: number;
}

export interface Program extends Invocation {
  /** absolute */
  path: string;
  /** default: none */
  args?: readonly string[];
  /** private folder that holds the input until the program has read it */
  directory: string;
  /** default: WORKING_DIRECTORY */
  workingDirectory?: string;
  /** text that the program and its children read at SHARED_TEXT_PATH; no folder, argument or variable shows it */
  sharedText?: string;
  /** open file that gets the output, in place of the result */
  outputFile?: number;
  /** bytes of standard error to keep; default: 0, because it may contain secrets */
  errorBytesMax?: number;
  /** a program that exceeds the limit is killed */
  filled?: FolderLimit;
}

/** The path at which programs read `sharedText`. */
export const SHARED_TEXT_PATH = "/dev/fd/3";

export interface ProgramResult {
  /** null if a signal ended it */
  exitCode: number | null;
  output: Uint8Array;
  /** number of bytes written to standard error */
  errorBytes: number;
}

export interface ProgramEnd extends ProgramResult {
  /** the beginning of standard error, up to `errorBytesMax` */
  errors: Uint8Array;
}

/** A folder that belongs to no service and is never unmounted or removed. */
const WORKING_DIRECTORY = "/";
/** How long to wait for output after the program ends, because a descendant outside its process group may keep the pipe open. */
const EXIT_GRACE_MS = 1_000;

/**
 * @param signal the deadline, which covers everything from the start to the end of the output
 * @throws DomainError `program.not_started`, `program.too_slow`, `program.output_too_large`, `program.folder_too_large`
 * @source handbook: gateway, How it is run
 */
export async function runProgram(program: Program, signal: AbortSignal): Promise<ProgramEnd> {
  if (signal.aborted) throw tooSlow();
  const child = start(program);
  running.add(child.pid);
  const stop = () => killGroup(child.pid);
  using watch = program.filled && watchFolder(program.filled, stop);
  const output = collect(child.stdout, { bytesMax: program.outputBytesMax, onExcess: stop });
  const errors = collect(child.stderr, { bytesMax: program.errorBytesMax ?? 0 });
  const cancelStreams = () => void Promise.all([output.cancel(), errors.cancel()]);
  const endProgram = () => {
    stop();
    cancelStreams();
  };
  signal.addEventListener("abort", endProgram, { once: true });
  await child.exited;
  stop(); // the remaining processes of its group
  running.delete(child.pid);
  const graceTimer = setTimeout(cancelStreams, EXIT_GRACE_MS);
  const [{ bytes, kept }, { bytes: errorBytes, kept: errorsKept }] = await Promise.all([
    output.read,
    errors.read,
  ]);
  clearTimeout(graceTimer);
  signal.removeEventListener("abort", endProgram);
  if (signal.aborted) throw tooSlow();
  if (bytes > program.outputBytesMax) throw outputTooLarge(program);
  if (watch?.isExceeded()) throw folderTooLarge(watch.bytesMax);
  const exitCode = child.signalCode === null ? child.exitCode : null;
  return { exitCode, output: kept, errorBytes, errors: errorsKept };
}

function start({ path, args = [], environment, input, directory, sharedText, ...more }: Program) {
  const { outputFile = "pipe", workingDirectory = WORKING_DIRECTORY } = more;
  const unlinked: number[] = [];
  const withText = (text: string): number => {
    const file = openUnlinkedFile(join(directory, `input-${process.pid}`), text);
    unlinked.push(file);
    return file;
  };
  try {
    const shared = sharedText === undefined ? [] : [withText(sharedText)];
    // Detached makes it the leader of its session and process group.
    return Bun.spawn([path, ...args], {
      cwd: workingDirectory,
      env: { ...environment },
      detached: true,
      stdio: [withText(input), outputFile, "pipe", ...shared],
    });
  } catch (error) {
    throw notStarted(path, error);
  } finally {
    for (const file of unlinked) closeSync(file);
  }
}

/**
 * Unlinked after opening. A file instead of a pipe, because the program may reopen /dev/stdin or never read it, and a write to
 * a file cannot block.
 */
function openUnlinkedFile(path: string, text: string): number {
  rmSync(path, { force: true }); // left by a dead process with the same id
  writeFileSync(path, text, { flag: "wx", mode: 0o600 });
  try {
    return openOwnFile(path);
  } finally {
    rmSync(path, { force: true });
  }
}

/** Leaders of the running groups, which must not outlive this process. */
const running = new Set<number>();
process.on("exit", () => {
  for (const leader of running) killGroup(leader);
});

function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // ESRCH: the group is empty, as intended
  }
}

const NOTHING = { read: { bytes: 0, kept: new Uint8Array() }, cancel: () => {} };

interface Bounds {
  bytesMax: number;
  onExcess?: () => void;
}

/** @param stream a number if the output goes to a file */
function collect(stream: ReadableStream<Uint8Array> | number | undefined, { bytesMax, onExcess }: Bounds) {
  if (!(stream instanceof ReadableStream)) return NOTHING;
  const reader = stream.getReader();
  const read = async (): Promise<{ bytes: number; kept: Uint8Array }> => {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
      bytes += chunk.value.length;
      if (bytes <= bytesMax) parts.push(chunk.value);
      else onExcess?.();
    }
    return { bytes, kept: Buffer.concat(parts) };
  };
  return { read: read(), cancel: () => reader.cancel() };
}

const tooSlow = (): DomainError =>
  new DomainError("unavailable", "program.too_slow", "it exceeded the time limit and was killed");

const outputTooLarge = ({ outputBytesMax }: Program): DomainError =>
  new DomainError(
    "unavailable",
    "program.output_too_large",
    `it printed more than ${outputBytesMax} bytes and was killed`,
  );

const folderTooLarge = (bytesMax: number): DomainError =>
  new DomainError(
    "unavailable",
    "program.folder_too_large",
    `it wrote more than ${bytesMax} bytes and was killed`,
  );

function notStarted(path: string, cause: unknown): DomainError {
  const code = codeOf(cause);
  const why = code === undefined ? "" : ` (${code})`;
  return new DomainError("unavailable", "program.not_started", `${path} cannot be started${why}`, {
    hint: "check that the interpreter its first line names is installed",
    cause,
  });
}
