// Runs one program to its end: no shell, no arguments, its own environment, bounded output, one deadline, and no remaining
// process in its group. pinned-executable.ts verifies the bytes.
import { closeSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf, DomainError } from "../errors.ts";
import { openOwnFile } from "../own-files.ts";

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
  /** private folder for the input until the program has read it */
  directory: string;
}

export interface ProgramResult {
  /** null if a signal ended it */
  exitCode: number | null;
  output: Uint8Array;
  /** written to standard error and dropped, because it may contain secrets */
  errorBytes: number;
}

/** Belongs to no service and is never unmounted or removed. */
const WORKING_DIRECTORY = "/";
/** How long to wait for output after the end, if a descendant outside the process group keeps the pipe open. */
const EXIT_GRACE_MS = 1_000;

/**
 * @param signal the deadline; it covers everything
 * @throws DomainError `program.not_started`, `program.too_slow`, `program.output_too_large`
 * @source handbook: gateway, How it is run
 */
export async function runProgram(program: Program, signal: AbortSignal): Promise<ProgramResult> {
  if (signal.aborted) throw tooSlow();
  const child = start(program);
  const stop = () => killGroup(child.pid);
  const output = collect(child.stdout, { bytesMax: program.outputBytesMax, onExcess: stop });
  const errors = collect(child.stderr, { bytesMax: 0 });
  const cancelStreams = () => void Promise.all([output.cancel(), errors.cancel()]);
  const endProgram = () => {
    stop();
    cancelStreams();
  };
  signal.addEventListener("abort", endProgram, { once: true });
  await child.exited;
  stop(); // the remaining processes of its group
  const lingering = setTimeout(cancelStreams, EXIT_GRACE_MS);
  const [{ bytes, kept }, { bytes: errorBytes }] = await Promise.all([output.read, errors.read]);
  clearTimeout(lingering);
  signal.removeEventListener("abort", endProgram);
  if (signal.aborted) throw tooSlow();
  if (bytes > program.outputBytesMax) throw outputTooLarge(program);
  return { exitCode: child.signalCode === null ? child.exitCode : null, output: kept, errorBytes };
}

function start({ path, environment, input, directory }: Program) {
  let stdin: number | undefined;
  try {
    stdin = openUnlinkedFile(join(directory, `input-${process.pid}`), input);
    // Detached makes it the leader of a session and process group of its own.
    return Bun.spawn([path], {
      cwd: WORKING_DIRECTORY,
      env: { ...environment },
      detached: true,
      stdin,
      stdout: "pipe",
      stderr: "pipe",
    });
  } catch (error) {
    throw notStarted(path, error);
  } finally {
    if (stdin !== undefined) closeSync(stdin);
  }
}

/** A file without a name: a program may open /dev/stdin again or never read it, and no write can fail or block. */
function openUnlinkedFile(path: string, text: string): number {
  rmSync(path, { force: true }); // of a process with the same id that died here
  writeFileSync(path, text, { flag: "wx", mode: 0o600 });
  try {
    return openOwnFile(path);
  } finally {
    rmSync(path, { force: true });
  }
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // ESRCH: the group is empty, as intended
  }
}

interface Bounds {
  bytesMax: number;
  onExcess?: () => void;
}

function collect(stream: ReadableStream<Uint8Array>, { bytesMax, onExcess }: Bounds) {
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
  new DomainError("unavailable", "program.too_slow", "it did not end in time, and was killed");

const outputTooLarge = ({ outputBytesMax }: Program): DomainError =>
  new DomainError(
    "unavailable",
    "program.output_too_large",
    `it printed more than ${outputBytesMax} bytes, and was killed`,
  );

function notStarted(path: string, cause: unknown): DomainError {
  const code = codeOf(cause);
  const why = code === undefined ? "" : ` (${code})`;
  return new DomainError("unavailable", "program.not_started", `${path} cannot be started${why}`, {
    hint: "check that the interpreter its first line names is installed",
    cause,
  });
}
