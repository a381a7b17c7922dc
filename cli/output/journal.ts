// Whether what is printed goes to the journal of systemd, and how its lines say there how grave they are.
import { fstatSync } from "node:fs";
import type { Context, OutputStream } from "../context.ts";

/**
 * @returns whether one of the streams is the one that systemd made; the variable alone is inherited by whole sessions
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
 * @returns for the journal, the same with the priority of sd-daemon(3) before each line, so that `journalctl -p` finds it
 */
export const withPriority = (
  context: Pick<Context, "env" | "stdout" | "stderr">,
  text: string,
  { level }: { level: keyof typeof PRIORITIES },
): string => (isJournal(context) ? text.replace(/^(?=.)/gm, PRIORITIES[level]) : text);
