// Detects whether output goes to the systemd journal, and marks lines with their priority there.
import { fstatSync } from "node:fs";
import type { Context, OutputStream } from "../context.ts";

/**
 * @returns whether stdout or stderr is the stream in JOURNAL_STREAM; the variable alone proves nothing, since children inherit it
 * @source systemd.exec(5), JOURNAL_STREAM
 */
export function isJournal({ env, stdout, stderr }: Pick<Context, "env" | "stdout" | "stderr">): boolean {
  const journal = env.JOURNAL_STREAM;
  return journal !== undefined && [stdout, stderr].some((stream) => identityOf(stream) === journal);
}

function identityOf(stream: OutputStream): string | undefined {
  if (!("fd" in stream) || typeof stream.fd !== "number") return undefined;
  const { dev, ino } = fstatSync(stream.fd, { bigint: true });
  return `${dev}:${ino}`;
}

const PRIORITIES = { error: "<3>", warning: "<4>" } as const;

/**
 * @param text lines, each with its line break
 * @returns the text; for the journal, each line starts with the priority of sd-daemon(3), so that `journalctl -p` finds it
 */
export const withPriority = (
  context: Pick<Context, "env" | "stdout" | "stderr">,
  text: string,
  { level }: { level: keyof typeof PRIORITIES },
): string => (isJournal(context) ? text.replace(/^(?=.)/gm, PRIORITIES[level]) : text);
