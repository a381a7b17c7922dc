// Handles write errors of stdout and stderr: the reader closed the pipe, or the disk is full. A command exits, because its output
// is its result. A service continues without its log.
import { DomainError } from "../../src/platform/errors.ts";
import type { Context, OutputStream } from "../context.ts";
import { EXIT, failureText } from "../exit.ts";

const failed = new WeakSet<OutputStream>();
const expendableOutputs = new WeakSet<OutputStream>();

/**
 * Exits when stdout fails: with 0 when the reader closed the pipe (`quartermaster … | head`), with 1 for any other write error.
 */
export function exitOnBrokenPipe({ stdout, stderr, runId }: Context): void {
  stderr.on("error", () => void failed.add(stderr)); // no stream is left to report it to
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

/** Makes later write errors of stdout harmless: the text is dropped. */
export const ignoreBrokenPipe = ({ stdout }: Context): void => void expendableOutputs.add(stdout);

/**
 * Ends the stream and waits until all output has been passed to the operating system, or writing has failed. An empty write
 * cannot be used for this: Bun calls back before earlier writes have finished. After a failure `end` never calls back.
 */
export async function flushOutput(stream: OutputStream): Promise<void> {
  if (failed.has(stream)) return;
  await new Promise<void>((resolve) => {
    stream.once("error", () => resolve());
    stream.end(resolve);
  });
}
