// Maps errors to exit codes, and formats them for stderr as text or JSON.
// The domain defines the errors; output.ts prints results.
import { styleText } from "node:util";
import { DomainError, type ErrorKind, type Problem } from "../src/platform/errors.ts";
import { isOutOfMemory, memoryLimitText } from "../src/platform/memory/memory-limits.ts";
import { printable, printableJson } from "./output/printable.ts";

/** Exit codes, as `quartermaster help exit-codes` documents them. */
export const EXIT = {
  done: 0,
  unexpected: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  notPermitted: 5,
  unavailable: 6,
  unverified: 7,
  someFailed: 8,
} as const;

const EXIT_OF_KIND: Readonly<Record<ErrorKind, number>> = {
  invalid: EXIT.usage,
  not_found: EXIT.notFound,
  gone: EXIT.notFound,
  conflict: EXIT.conflict,
  unauthenticated: EXIT.notPermitted,
  forbidden: EXIT.notPermitted,
  unavailable: EXIT.unavailable,
  upstream: EXIT.unavailable,
  too_many: EXIT.unavailable,
  unverified: EXIT.unverified,
};

/** Reasons whose HTTP status suggests a retry. Commands use another code, because waiting fixes neither a disk nor a lost key. */
const EXIT_OF_REASON: ReadonlyMap<string, number> = new Map([
  ["storage.full", EXIT.unexpected],
  ["storage.failed", EXIT.unexpected],
  ["storage.not_permitted", EXIT.notPermitted],
  ["storage.link", EXIT.notPermitted],
  ["storage.damaged", EXIT.unverified],
  ["schema.migration_failed", EXIT.conflict],
  ["sealing.key_missing", EXIT.conflict],
  ["sealing.damaged", EXIT.unverified],
  ["signing_key.sealed", EXIT.conflict],
  ["data_dir.incomplete", EXIT.conflict],
]);

/** Exit codes of `serve` for problems that a restart cannot fix. The unit lists them in RestartPreventExitStatus. */
export const PERMANENT_FAILURE_EXITS: readonly number[] = [
  EXIT.usage,
  EXIT.notFound,
  EXIT.conflict,
  EXIT.notPermitted,
  EXIT.unverified,
];

/** The operator or the service manager asked the command to stop. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  /** 128 plus the signal number, as in shells */
  readonly exitCode: number;

  constructor(signal: "SIGINT" | "SIGTERM") {
    super(signal === "SIGINT" ? "interrupted" : "terminated");
    this.exitCode = signal === "SIGINT" ? 130 : 143;
  }
}

/** The operator answered no. The command ends like an interrupted one. */
export class Declined extends Error {
  override readonly name = "Declined";
  readonly exitCode = 130;

  constructor() {
    super("declined; no changes made");
  }
}

/** The command finished, but some items failed; the report on stdout lists them. Exit code 8. */
export class SomeFailed extends Error {
  override readonly name = "SomeFailed";
}

class ErrorInFile extends Error {
  constructor(
    readonly path: string,
    readonly fault: DomainError,
  ) {
    super(fault.message, { cause: fault });
  }
}

/**
 * Runs `work` on the contents of the file at `path`, so that its problems are printed with the file name.
 * @param isAbout selects the errors that concern this file; default: all
 * @throws every error that `work` throws; a DomainError is wrapped
 */
export async function withFileContext<T>(
  path: string | undefined,
  work: () => T | Promise<T>,
  isAbout: (fault: DomainError) => boolean = () => true,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isFaulty = path !== undefined && error instanceof DomainError && isAbout(error);
    throw isFaulty ? new ErrorInFile(path, error) : error;
  }
}

/** The printed form of an error. `--json` prints exactly these members. */
export interface Failure {
  readonly error: string;
  readonly reason: string;
  readonly hint: string | null;
  readonly problems: readonly Problem[];
  readonly exit_code: number;
  readonly run_id: string;
}

/** @returns the printed form of an error; only the message of a DomainError is known to contain no secrets */
export function failureOf(error: unknown, runId: string): Failure {
  if (error instanceof ErrorInFile) {
    const failure = failureOf(error.fault, runId);
    return { ...failure, problems: failure.problems.map((problem) => located(problem, error.path)) };
  }
  const { message, reason, hint, problems, exitCode } = describeError(error);
  return {
    error: message,
    reason,
    hint: hint ?? null,
    problems: problems ?? [],
    exit_code: exitCode,
    run_id: runId,
  };
}

interface Description {
  readonly message: string;
  readonly reason: string;
  readonly hint?: string | undefined;
  readonly problems?: readonly Problem[];
  readonly exitCode: number;
}

function describeError(error: unknown): Description {
  if (error instanceof DomainError) return describeDomainError(error);
  if (error instanceof Interrupted)
    return { message: error.message, reason: error.message, exitCode: error.exitCode };
  if (error instanceof Declined)
    return { message: error.message, reason: "declined", exitCode: error.exitCode };
  if (error instanceof SomeFailed)
    return { message: error.message, reason: "some_failed", exitCode: EXIT.someFailed };
  if (isOutOfMemory(error))
    return {
      message: "out of memory",
      reason: "memory.exhausted",
      hint: memoryHint(),
      exitCode: EXIT.unexpected,
    };
  return {
    message: `unexpected failure: ${error instanceof Error ? error.message : String(error)}`,
    reason: "unexpected",
    hint: "this is a bug; report it with the run id and the output of --debug",
    exitCode: EXIT.unexpected,
  };
}

const memoryHint = (): string => `${memoryLimitText()}; raise it, or work with smaller files`;

function describeDomainError(error: DomainError): Description {
  const { message, reason, kind, hint, problems, retryAfterSeconds } = error;
  const wait = retryAfterSeconds === undefined ? undefined : `try again in ${retryAfterSeconds} s`;
  const exitCode = EXIT_OF_REASON.get(reason) ?? EXIT_OF_KIND[kind];
  return { message, reason, hint: hint ?? wait, problems, exitCode };
}

/** Adds the file name. A problem without a line number comes from a flag or the environment, not from the file. */
const located = (problem: Problem, file: string) =>
  problem.line === undefined ? problem : { ...problem, file: problem.file ?? file };

/** How to print an error. */
export interface FailureStyle {
  readonly json: boolean;
  /** adds the stack trace and the causes */
  readonly debug: boolean;
  readonly color: boolean;
}

/** @returns the text for stderr, with a line break at the end */
export function failureText(error: unknown, runId: string, style: FailureStyle): string {
  const failure = failureOf(error, runId);
  const stack = style.debug ? Bun.inspect(error, { colors: false }) : undefined;
  if (style.json)
    return `${printableJson(JSON.stringify({ ...failure, ...(stack === undefined ? {} : { stack }) }))}\n`;
  const label = style.color ? styleText("red", "error:", { validateStream: false }) : "error:";
  const lines = [
    `${label} ${printable(failure.error)}`,
    ...failure.problems.filter(addsToMessage(failure)).map((problem) => printable(problemLine(problem))),
    ...(failure.hint === null ? [] : [`hint:  ${printable(failure.hint)}`]),
    `run:   ${failure.run_id}`,
    ...(stack === undefined ? [] : stack.split("\n").map(printable)),
  ];
  return `${lines.join("\n")}\n`;
}

/** A short message may contain the detail of its only problem. The place still has to be printed. */
const addsToMessage =
  ({ error }: Failure) =>
  ({ detail, line }: Problem): boolean =>
    line !== undefined || !error.includes(detail);

/** @returns `FILE:LINE:COLUMN: POINTER: detail`, the format of compilers, without the unknown parts; `line 6` without a file */
function problemLine({ file, line, column, pointer, detail }: Failure["problems"][number]): string {
  const position = [line, column].filter((part) => part !== undefined).join(":");
  const inLine = file === undefined ? `line ${position}` : `${file}:${position}`;
  const place = line === undefined ? file : inLine;
  return [place, pointer, detail].filter((part) => part).join(": ");
}
