// The errors that the HTTP interface and the commands understand. A service throws a DomainError for a problem that a caller can
// cause or expect; any other error is a bug and gives an internal error. The server and the commands map `kind`, never a class.

/** The kind of failure, by the caller's next step. problems/problem.ts maps it to HTTP statuses, cli/exit.ts to exit codes. */
export type ErrorKind =
  | "invalid"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "gone"
  | "too_many"
  | "unverified"
  | "upstream"
  | "unavailable";

export interface Problem {
  /** RFC 6901 JSON pointer into the input; empty for the whole input */
  pointer: string;
  /** the problem and the correct form, for a person */
  detail: string;
  /** for an input from a file: 1-based */
  line?: number;
  /** 1-based column in UTF-16 units; only with `line` */
  column?: number;
  /** absolute path, if the problem is in a different file; only with `line` */
  file?: string;
}

export interface SpentBudget {
  /** its name, such as `password.account`; letters, digits, `.` and `_` */
  name: string;
  /** number allowed in one window */
  limit: number;
  windowSeconds: number;
}

export interface ErrorDetails {
  /** what to do next, for a person */
  hint?: string;
  /** all problems of the input, not only the first */
  problems?: readonly Problem[];
  /** for `too_many`, `upstream` and `unavailable`: seconds to wait */
  retryAfterSeconds?: number;
  /** for `too_many`: the exhausted budget, for metrics */
  budget?: SpentBudget;
  /** for `not_found`: what the caller named, so that a command can suggest the most similar one */
  missing?: Missing;
  /** for the log only, never shown to a caller */
  cause?: unknown;
}

export interface Missing {
  kind: "user" | "group" | "client" | "package" | "connection" | "model" | "token";
  /** as the caller wrote it */
  name: string;
}

/** An expected failure. `message` is safe to show to the caller; `reason` is stable and machine-readable (`area.what`). */
export class DomainError extends Error {
  readonly hint: string | undefined;
  readonly problems: readonly Problem[];
  readonly retryAfterSeconds: number | undefined;
  readonly budget: SpentBudget | undefined;
  readonly missing: Missing | undefined;

  constructor(
    readonly kind: ErrorKind,
    readonly reason: string,
    message: string,
    details: ErrorDetails = {},
  ) {
    super(message, { cause: details.cause });
    this.name = "DomainError";
    this.hint = details.hint;
    this.problems = details.problems ?? [];
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.budget = details.budget;
    this.missing = details.missing;
  }
}

/** @returns the code of an error of the system or of a library, such as `ENOENT` */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;

const DISK_FULL: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

/** @returns whether a system error means that there is no room for a file */
export const isDiskFull = (error: unknown): boolean => DISK_FULL.has(codeOf(error) ?? "");

/** @returns the text with the short name of the system error, which only operators may see */
export function reasonForOperators({ message, problems, cause }: DomainError): string {
  if (problems.length > 0) return problems.map(({ detail }) => detail).join(", ");
  return cause instanceof Error ? `${message} (${codeOf(cause) ?? cause.name})` : message;
}

/** Asserts a condition that must hold; a failure is a bug, never caused by the caller. */
export function invariant(condition: unknown, text: string): asserts condition {
  if (!condition) throw new Error(`invariant violated: ${text}`);
}

/** @returns the RFC 6901 pointer made of unescaped reference tokens */
export const pointerOf = (path: readonly (string | number)[]): string =>
  path.map((token) => `/${escapedToken(String(token))}`).join("");

/** @returns the token, escaped for an RFC 6901 pointer */
export const escapedToken = (token: string): string =>
  ESCAPED.test(token) ? token.replaceAll("~", "~0").replaceAll("/", "~1") : token;

const ESCAPED = /[~/]/;

/** @returns the unescaped reference tokens of an RFC 6901 pointer */
export const tokensOf = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
