// How a command ends: error kinds to exit codes in one table, and the text and JSON an error is shown as on stderr.
// Which errors exist is for the domain; what a command prints on success is for output.ts.
import { styleText } from "node:util";
import { DomainError, type ErrorKind, type Problem } from "../src/platform/errors.ts";
import { isOutOfMemory, memoryLimitText } from "../src/platform/memory/memory-limits.ts";
import { printable, printableJson } from "./output/printable.ts";

/** operator-experience.md section 1.1 */
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

/** Reasons that an HTTP client may wait out, and a command may not: waiting repairs neither a disk nor a lost key. */
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

/** How `serve` ends where a restart changes nothing until a person acts; the unit lists them (operator-experience.md section 1.1). */
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
  /** 128 and the number of the signal, as shells count */
  readonly exitCode: number;

  constructor(signal: "SIGINT" | "SIGTERM") {
    super(signal === "SIGINT" ? "interrupted" : "terminated");
    this.exitCode = signal === "SIGINT" ? 130 : 143;
  }
}

/** The work was finished, and the report on stdout lists what failed: exit code 8. */
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
 * Runs `work` on what was read from the file at `path`.
 * @param isAbout tells which errors are about this file; all of them when left out
 * @throws whatever `work` throws; the problems of a DomainError are shown with the file's name
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

/** What is told about an error; under `--json` these very members. */
export interface Failure {
  readonly error: string;
  readonly reason: string;
  readonly hint: string | null;
  readonly problems: readonly (Problem & { readonly file?: string })[];
  readonly exit_code: number;
  readonly run_id: string;
}

/** @returns what to tell about an error; only a DomainError's message is known to be free of secrets */
export function failureOf(error: unknown, runId: string): Failure {
  if (error instanceof ErrorInFile) {
    const failure = failureOf(error.fault, runId);
    return { ...failure, problems: failure.problems.map((problem) => located(problem, error.path)) };
  }
  const { message, reason, hint, problems, exitCode } = told(error);
  return {
    error: message,
    reason,
    hint: hint ?? null,
    problems: problems ?? [],
    exit_code: exitCode,
    run_id: runId,
  };
}

interface Told {
  readonly message: string;
  readonly reason: string;
  readonly hint?: string | undefined;
  readonly problems?: readonly Problem[];
  readonly exitCode: number;
}

function told(error: unknown): Told {
  if (error instanceof DomainError) return expected(error);
  if (error instanceof Interrupted)
    return { message: error.message, reason: error.message, exitCode: error.exitCode };
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
    hint: "this is a bug; report it with the run id and what --debug adds",
    exitCode: EXIT.unexpected,
  };
}

const memoryHint = (): string => `${memoryLimitText()}; raise it, or work with smaller files`;

function expected({ message, reason, kind, hint, problems, retryAfterSeconds }: DomainError): Told {
  const wait = retryAfterSeconds === undefined ? undefined : `try again in ${retryAfterSeconds} s`;
  const exitCode = EXIT_OF_REASON.get(reason) ?? EXIT_OF_KIND[kind];
  return { message, reason, hint: hint ?? wait, problems, exitCode };
}

/** A problem without a line was not found in the file: it came from a flag or from the environment. */
const located = (problem: Problem, file: string) =>
  problem.line === undefined ? problem : { ...problem, file };

/** How to show an error. */
export interface FailureStyle {
  readonly json: boolean;
  /** adds the stack trace with its causes */
  readonly debug: boolean;
  readonly color: boolean;
}

/** @returns what goes to stderr, line break included */
export function failureText(error: unknown, runId: string, style: FailureStyle): string {
  const failure = failureOf(error, runId);
  const stack = style.debug ? Bun.inspect(error, { colors: false }) : undefined;
  if (style.json)
    return `${printableJson(JSON.stringify({ ...failure, ...(stack === undefined ? {} : { stack }) }))}\n`;
  const label = style.color ? styleText("red", "error:", { validateStream: false }) : "error:";
  const lines = [
    `${label} ${printable(failure.error)}`,
    ...failure.problems.filter(isNotYetSaid(failure)).map((problem) => printable(problemLine(problem))),
    ...(failure.hint === null ? [] : [`hint:  ${printable(failure.hint)}`]),
    `run:   ${failure.run_id}`,
    ...(stack === undefined ? [] : stack.split("\n").map(printable)),
  ];
  return `${lines.join("\n")}\n`;
}

/** A short message says by itself what is wrong, but not where. */
const isNotYetSaid =
  ({ error }: Failure) =>
  ({ detail, line }: Problem): boolean =>
    line !== undefined || !error.includes(detail);

/** `FILE:LINE: POINTER: detail`, as editors and compilers write it; what is not known is left out */
function problemLine({ file, line, pointer, detail }: Failure["problems"][number]): string {
  const place = [file, line].filter((part) => part !== undefined).join(":");
  return [place, pointer, detail].filter((part) => part !== "").join(": ");
}
