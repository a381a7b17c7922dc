// The text of an empty list: what would fill it, and the first step with its command.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { commandLine } from "../parts/command.tsx";
import { useReader } from "../parts/values.tsx";

export interface FirstStep {
  /** what would fill the list, and how to begin on a page */
  text: ComponentChildren;
  /** what the command is for and where it runs; by default, it does the same on the server */
  purpose?: string;
  /** words of the command after `quartermaster`, as in Equivalents; undefined if the reader can do nothing */
  command: readonly string[] | undefined | ((origin: string) => readonly string[]);
}

/** Lists that workstations fill: people run the program on one of them. */
export const WORKSTATION_STEP = {
  purpose: "To check that a workstation reaches this service, run on it",
  command: (origin: string) => ["probe", origin],
} as const;

/** Lists that people fill. */
export const INVITATION_STEP = {
  command: ["users", "invite", "ana@example.org", "--role", "member"],
} as const;

export function Empty({ text, purpose = "On the server", command }: FirstStep) {
  const { origin } = useReader();
  const words = typeof command === "function" ? command(origin) : command;
  return (
    <div class="empty">
      <p>{text}</p>
      {words && (
        <p>
          {purpose}: <code>{commandLine(words)}</code>
        </p>
      )}
    </div>
  );
}
