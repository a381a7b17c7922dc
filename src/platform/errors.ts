// The errors every face understands. A service throws a DomainError for what a caller can expect;
// anything else is a bug and is answered as such. Faces map `kind`, never a single class.

/** What went wrong, in terms of the caller's next step. Mapped to HTTP statuses in problems/problem.ts and to exit codes in cli/exit.ts. */
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

/** One thing wrong with an input. */
export interface Problem {
  /** RFC 6901 JSON pointer into the input; empty for the whole of it */
  pointer: string;
  /** what is wrong and what would be right, for a person */
  detail: string;
  /** where the input was read from a file: 1-based */
  line?: number;
}

/** A budget that is used up. */
export interface SpentBudget {
  /** which of them, such as `password.account`; letters, digits, `.` and `_` */
  name: string;
  /** how often in one window */
  limit: number;
  windowSeconds: number;
}

export interface ErrorDetails {
  /** what to do next, for a person */
  hint?: string;
  /** everything that is wrong with the input, not only the first */
  problems?: readonly Problem[];
  /** for `too_many`, `upstream` and `unavailable`: seconds to wait */
  retryAfterSeconds?: number;
  /** for `too_many`: what was used up, where it is counted */
  budget?: SpentBudget;
  /** for the log only, never shown to a caller */
  cause?: unknown;
}

/** An expected failure. `message` is safe to show to the caller; `reason` is stable and machine-readable (`area.what`). */
export class DomainError extends Error {
  readonly hint: string | undefined;
  readonly problems: readonly Problem[];
  readonly retryAfterSeconds: number | undefined;
  readonly budget: SpentBudget | undefined;

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
  }
}

/** Guards what must be true; a failure is a bug, never the caller's fault. */
export function invariant(condition: unknown, text: string): asserts condition {
  if (!condition) throw new Error(`invariant violated: ${text}`);
}

/** @returns the RFC 6901 pointer made of unescaped reference tokens */
export const pointerOf = (path: readonly (string | number)[]): string =>
  path.map((token) => `/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** @returns the unescaped reference tokens of an RFC 6901 pointer */
export const tokensOf = (pointer: string): string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
