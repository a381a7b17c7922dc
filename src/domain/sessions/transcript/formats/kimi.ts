// Lines of a Kimi wire history. Messages and the events of a turn are separate records; older versions wrapped their events.
import type { TranscriptEntry } from "../model.ts";
import { type Draft, entryOf, listOf, objectOf, textOf, timeOf, tokensOf, valueText } from "../values.ts";
import { contentText } from "./claude.ts";

const TOKENS = {
  input: [
    "inputOther",
    "inputCacheRead",
    "inputCacheCreation",
    "input_other",
    "input_cache_read",
    "input_cache_creation",
  ],
  output: ["output"],
};

/** @returns the entries of one line; none for a line with nothing to show */
export function* kimiEntries(line: unknown): Generator<TranscriptEntry> {
  const { type, time, message, event, timestamp } = objectOf(line);
  if (type === "context.append_message") yield* timed(messageDrafts(message), timeOf(time));
  else if (type === "context.append_loop_event") yield* timed(eventDrafts(event), timeOf(time));
  else if (typeof timestamp === "number") yield* timed(wrappedDrafts(message), timeOf(timestamp * 1_000));
}

function* timed(drafts: Iterable<Draft>, atMs: number | null): Generator<TranscriptEntry> {
  for (const draft of drafts) yield entryOf({ ...draft, atMs });
}

function* messageDrafts(message: unknown): Generator<Draft> {
  const { role, content, toolCalls, origin } = objectOf(message);
  if (role === "tool") return yield { kind: "result", text: contentText(content) };
  const isOfPerson = role === "user" && (origin === undefined || objectOf(origin).kind === "user");
  const speaker = role === "assistant" ? "assistant" : isOfPerson ? "user" : "system";
  for (const part of typeof content === "string" ? [{ type: "text", text: content }] : listOf(content))
    yield* partDrafts(part, speaker);
  for (const call of listOf(toolCalls)) {
    const { name, arguments: given, function: called } = objectOf(call);
    const { name: calledName, arguments: calledWith } = objectOf(called);
    yield { kind: "call", name: textOf(name ?? calledName), text: valueText(given ?? calledWith) };
  }
}

function* eventDrafts(event: unknown): Generator<Draft> {
  const { type, part, name, args, result, usage } = objectOf(event);
  if (type === "content.part") yield* partDrafts(part, "assistant");
  if (type === "tool.call") yield { kind: "call", name: textOf(name), text: valueText(args) };
  if (type === "tool.result") {
    const { output, isError } = objectOf(result);
    yield { kind: "result", text: contentText(output), isError: isError === true };
  }
  const tokens = type === "step.end" ? tokensOf(usage, TOKENS) : null;
  if (tokens) yield { kind: "usage", text: "", tokens };
}

function* wrappedDrafts(message: unknown): Generator<Draft> {
  const { type, payload } = objectOf(message);
  const { user_input: input, function: called, return_value: returned } = objectOf(payload);
  if (type === "TurnBegin" && contentText(input) !== "") yield { kind: "user", text: contentText(input) };
  if (type === "ContentPart") yield* partDrafts(payload, "assistant");
  if (type === "ToolCall") {
    const { name, arguments: given } = objectOf(called);
    yield { kind: "call", name: textOf(name), text: valueText(given) };
  }
  if (type === "ToolResult") {
    const { output, is_error: isError } = objectOf(returned);
    yield { kind: "result", text: contentText(output), isError: isError === true };
  }
}

function* partDrafts(part: unknown, speaker: "user" | "assistant" | "system"): Generator<Draft> {
  const { type, text, think } = objectOf(part);
  if (type === "text" && textOf(text).trim() !== "") yield { kind: speaker, text: textOf(text) };
  else if (type === "think" && textOf(think).trim() !== "") yield { kind: "reasoning", text: textOf(think) };
  else if (type === "image_url" || type === "audio_url" || type === "video_url")
    yield { kind: speaker, text: `[${type.slice(0, -"_url".length)}]` };
}
