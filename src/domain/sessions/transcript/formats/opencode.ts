// Messages of an OpenCode export: facts about the message, and its parts. A tool part has the call and its result.
import type { TranscriptEntry } from "../model.ts";
import { type Draft, entryOf, listOf, objectOf, textOf, timeOf, tokensOf, valueText } from "../values.ts";

const TOKENS = { input: ["input", "cache_read", "cache_write"], output: ["output", "reasoning"] };

/** @returns the entries of one message */
export function* opencodeEntries(message: unknown): Generator<TranscriptEntry> {
  const { info, parts } = objectOf(message);
  const { role, time, tokens: usage } = objectOf(info);
  const createdAtMs = timeOf(objectOf(time).created);
  const { read, write } = objectOf(objectOf(usage).cache);
  let tokens = tokensOf({ ...objectOf(usage), cache_read: read, cache_write: write }, TOKENS);
  for (const part of listOf(parts))
    for (const draft of partDrafts(part, role === "user" ? "user" : "assistant")) {
      yield entryOf({ ...draft, atMs: draft.atMs ?? createdAtMs, tokens });
      tokens = null; // tokens of the whole message
    }
}

function* partDrafts(part: unknown, speaker: "user" | "assistant"): Generator<Draft> {
  const { type, text, synthetic, tool, state, filename } = objectOf(part);
  if ((type === "text" || type === "reasoning") && textOf(text).trim() !== "")
    yield { kind: type === "reasoning" ? type : synthetic === true ? "system" : speaker, text: textOf(text) };
  if (type === "file") yield { kind: speaker, text: `[file ${textOf(filename)}]` };
  if (type === "compaction") yield { kind: "note", text: "Compacted." };
  if (type === "tool") yield* toolDrafts(textOf(tool), state);
}

function* toolDrafts(name: string, state: unknown): Generator<Draft> {
  const { status, input, output, error, time } = objectOf(state);
  const { start, end } = objectOf(time);
  yield { kind: "call", name, text: valueText(input), atMs: timeOf(start) };
  if (status !== "completed" && status !== "error") return;
  const isError = status === "error";
  yield { kind: "result", text: valueText(isError ? error : output), atMs: timeOf(end), isError };
}
