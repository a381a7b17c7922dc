// Where what is printed cannot go: the reader went away, or the disk behind the file is full. What a command prints is its
// result, so it ends; a service is not there for its log, and goes on without it.
import { DomainError } from "../../src/platform/errors.ts";
import type { Context, OutputStream } from "../context.ts";
import { EXIT, failureText } from "../exit.ts";

const failed = new WeakSet<OutputStream>();
const expendableOutputs = new WeakSet<OutputStream>();

/**
 * `quartermaster … | head` ends when head has read enough; nothing is wrong then. Results that cannot be written for any
 * other reason are a failure of the machine.
 */
export function exitOnBrokenPipe({ stdout, stderr, runId }: Context): void {
  stderr.on("error", () => void failed.add(stderr)); // there is nowhere left to say it
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    failed.add(stdout);
    if (expendableOutputs.has(stdout)) return;
    if (error.code === "EPIPE") process.exit(EXIT.done);
    const fault = new DomainError(
      "unavailable",
      "storage.failed",
      `cannot write the results: ${error.message}`,
    );
    stderr.write(failureText(fault, runId, { json: false, debug: false, color: false }));
    process.exit(EXIT.unexpected);
  });
}

/** From now on nobody needs to read stdout: what cannot be written is left out. */
export const ignoreBrokenPipe = ({ stdout }: Context): void => void expendableOutputs.add(stdout);

/**
 * Waits until everything written has been handed to the operating system, as far as it takes it. Bun calls back for an
 * empty write before earlier ones have left, and counts none as waiting, so only the end tells; it does not come after a
 * failure.
 */
export async function flushOutput(stream: OutputStream): Promise<void> {
  if (failed.has(stream)) return;
  await new Promise<void>((resolve) => {
    stream.once("error", () => resolve());
    stream.end(resolve);
  });
}
