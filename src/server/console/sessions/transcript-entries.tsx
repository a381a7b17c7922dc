// The entries of a transcript. All content is shown as text, never as markup, images or links.
/** @jsxImportSource preact */
import type { TranscriptEntry } from "../../../domain/sessions/service.ts";
import { ENTRY_CHARACTERS_MAX } from "../../../domain/sessions/transcript/limits.ts";
import type { EntryKind } from "../../../domain/sessions/transcript/model.ts";
import { countText } from "../../pages/words.ts";
import { visibleText } from "../parts/texts.ts";
import { Count, State, Text, Time } from "../parts/values.tsx";

const KIND_LABELS: Readonly<Record<EntryKind, string>> = {
  user: "Person",
  assistant: "Agent",
  reasoning: "Reasoning of the agent",
  system: "Instructions from the program",
  call: "Tool call",
  result: "Result",
  usage: "Tokens",
  note: "Note",
};

/** Longer results of tools, and similar texts, are folded. */
export const OPEN_LINES_MAX = 20;
/** A very long line takes as much of the screen as many lines. */
export const OPEN_CHARACTERS_MAX = 2_000;

/** The main text of a conversation is never folded. */
const ALWAYS_OPEN: readonly EntryKind[] = ["user", "assistant", "note"];

/** @returns the entries of a page, in their order */
export const Entries = ({ entries }: { entries: readonly TranscriptEntry[] }) => (
  <div class="entries">
    {entries.map((entry, at) => (
      <Entry key={at} entry={entry} />
    ))}
  </div>
);

function Entry({ entry }: { entry: TranscriptEntry }) {
  const { kind, name, text, atMs, tokens, isError } = entry;
  return (
    <article class={`entry ${kind}`}>
      <header>
        <h2>
          {KIND_LABELS[kind]}
          {name !== null && (
            <>
              {" "}
              <code>
                <Text value={name} />
              </code>
            </>
          )}
        </h2>
        {isError && <State tone="bad">Failed</State>}
        {tokens && (
          <span class="muted">
            <Count value={tokens.input} /> tokens read, <Count value={tokens.output} /> written
          </span>
        )}
        {atMs !== null && (
          <span class="muted">
            <Time at={atMs} />
          </span>
        )}
      </header>
      {text !== "" && <Body entry={entry} />}
    </article>
  );
}

function Body({ entry }: { entry: TranscriptEntry }) {
  const { text, isCut } = entry;
  const words = (
    <>
      <pre dir="auto">{visibleText(text)}</pre>
      {isCut && (
        <p class="hint">
          Only the first <Count value={ENTRY_CHARACTERS_MAX} /> characters are shown; the download has all.
        </p>
      )}
    </>
  );
  const summary = foldedAs(entry);
  if (summary === undefined) return words;
  return (
    <details>
      <summary>
        {summary}
        {entry.kind === "call" && (
          <span class="muted">
            {" "}
            <Text value={previewOf(text)} />
          </span>
        )}
      </summary>
      {words}
    </details>
  );
}

/** @returns the summary line of a folded text; undefined for any other text */
export function foldedAs({ kind, text }: Pick<TranscriptEntry, "kind" | "text">): string | undefined {
  if (ALWAYS_OPEN.includes(kind)) return undefined;
  const lines = linesIn(text);
  const isLong = lines > OPEN_LINES_MAX || text.length > OPEN_CHARACTERS_MAX;
  if (kind !== "call" && !isLong) return undefined;
  return lines > 1 ? countText(lines, "line") : countText(text.length, "character");
}

/** Characters of a folded call beside its name. */
const PREVIEW_CHARACTERS = 80;

/** @returns the beginning of a text in one line */
const previewOf = (text: string): string => {
  const line = text
    .slice(0, 2 * PREVIEW_CHARACTERS)
    .replaceAll(/\s+/g, " ")
    .trim();
  return line.length > PREVIEW_CHARACTERS ? `${line.slice(0, PREVIEW_CHARACTERS).toWellFormed()}…` : line;
};

/** @returns the number of lines; a final line break does not count */
function linesIn(text: string): number {
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}
