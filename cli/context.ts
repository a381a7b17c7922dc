// What every command receives instead of process.*: streams, environment, time, randomness, cost of secrets, and the wish to stop.
// Tests pass their own. What commands print goes through output.ts, settings through setting-options.ts.
import type { Readable, Writable } from "node:stream";
import { type Clock, systemClock } from "../src/platform/clock.ts";
import type { PassphraseCost } from "../src/platform/crypto/key-file.ts";
import type { PasswordCost } from "../src/platform/crypto/passwords.ts";
import { type Ids, systemIds } from "../src/platform/ids.ts";
import { Interrupted } from "./exit.ts";

export type InputStream = Readable & { readonly isTTY?: boolean };
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export interface Context {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** what is taken out of it no child receives */
  readonly env: Record<string, string | undefined>;
  /** absolute */
  readonly cwd: string;
  /** whoever started the command; it may become the owner of the data directory */
  readonly userId: number | undefined;
  readonly clock: Clock;
  readonly ids: Ids;
  /** how much work it is to try a password, and a passphrase of a file of keys; the product's own where they are left out */
  readonly passwordCost?: PasswordCost;
  readonly passphraseCost?: PassphraseCost;
  /** names this run in error messages and audit entries */
  readonly runId: string;
  /**
   * From the first call on, the command stops itself: SIGINT and SIGTERM abort the signal with `Interrupted` as its
   * reason, a second one ends the process at once. Without a call the operating system ends the process.
   */
  stopSignal(): AbortSignal;
}

/** @returns the context of this very process */
export function processContext(): Context {
  let stop: AbortSignal | undefined;
  return {
    get stdin() {
      return process.stdin; // opening it takes time that most commands need not spend
    },
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    userId: process.getuid?.(),
    clock: systemClock,
    ids: systemIds,
    runId: systemIds.uuid(),
    stopSignal: () => {
      stop ??= listenForSignals();
      return stop;
    },
  };
}

function listenForSignals(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      const interrupted = new Interrupted(name);
      if (controller.signal.aborted) process.exit(interrupted.exitCode);
      controller.abort(interrupted);
    });
  }
  return controller.signal;
}
