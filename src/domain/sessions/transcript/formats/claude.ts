// Lines of a Claude Code transcript: each is one message of a user or of the model, with content blocks.
import type { TranscriptEntry } from "../model.ts";
import { type Draft, entryOf, listOf, objectOf, textOf, timeOf, tokensOf, valueText } from "../values.ts";

const TOKENS = {
  input: ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"],
  output: ["output_tokens"],
};

/** @returns the entries of one line; none for a line with nothing to show */
export function* claudeEntries(line: unknown): Generator<TranscriptEntry> {
  const { type, timestamp, message, isMeta, summary, content: text } = objectOf(line);
  const atMs = timeOf(timestamp);
  if (type === "summary" && textOf(summary) !== "")
    yield entryOf({ kind: "note", text: textOf(summary), atMs });
  if (type === "system" && textOf(text) !== "") yield entryOf({ kind: "system", text: textOf(text), atMs });
  if (type !== "user" && type !== "assistant") return;
  const { content, usage } = objectOf(message);
  const speaker = isMeta === true ? "system" : type;
  let tokens = tokensOf(usage, TOKENS);
  for (const block of typeof content === "string" ? [{ type: "text", text: content }] : listOf(content)) {
    const draft = blockDraft(block, speaker);
    if (!draft) continue;
    yield entryOf({ ...draft, atMs, tokens });
    tokens = null; // tokens of the whole message
  }
}

function blockDraft(block: unknown, speaker: "user" | "assistant" | "system"): Draft | undefined {
  const { type, text, thinking, name, input, content, is_error: isError } = objectOf(block);
  switch (type) {
    case "text":
      return textOf(text).trim() === "" ? undefined : { kind: speaker, text: textOf(text) };
    case "thinking":
      return textOf(thinking).trim() === "" ? undefined : { kind: "reasoning", text: textOf(thinking) };
    case "tool_use":
      return { kind: "call", name: textOf(name), text: valueText(input) };
    case "tool_result":
      return { kind: "result", text: contentText(content), isError: isError === true };
    case "image":
    case "document":
      return { kind: speaker, text: `[${type}]` };
    default:
      return undefined;
  }
}

/** @returns the text of a result, which is text or a list of blocks */
export const contentText = (content: unknown): string =>
  Array.isArray(content) ? content.map(partText).filter(Boolean).join("\n") : valueText(content);

function partText(part: unknown): string {
  const { type, text } = objectOf(part);
  return typeof text === "string" ? text : `[${textOf(type) || "content"}]`;
}
