// Lines of a Codex rollout. Response items hold the input and the responses of the model. Events repeat them for the screen, and
// are read only for tokens.
import type { TranscriptEntry } from "../model.ts";
import { type Draft, entryOf, listOf, objectOf, textOf, timeOf, tokensOf, valueText } from "../values.ts";
import { contentText } from "./claude.ts";

const TOKENS = { input: ["input_tokens"], output: ["output_tokens"] };
/** Prefixes of texts that the program itself sends as user messages. */
const OF_PROGRAM =
  /^\s*(?:<(?:environment_context|user_instructions|permissions|INSTRUCTIONS)|# AGENTS\.md )/;

/** @returns the entries of one line; none for a line with nothing to show */
export function* codexEntries(line: unknown): Generator<TranscriptEntry> {
  const { type, timestamp, payload } = objectOf(line);
  const atMs = timeOf(timestamp);
  const draft =
    type === "response_item"
      ? itemDraft(payload)
      : type === "event_msg"
        ? usageDraft(payload)
        : noteDraft(type, payload);
  if (
    draft &&
    (draft.kind === "usage" || draft.kind === "call" || draft.kind === "result" || draft.text.trim() !== "")
  )
    yield entryOf({ ...draft, atMs });
}

function itemDraft(payload: unknown): Draft | undefined {
  const { type, role, content, summary, name, arguments: given, input, output, action } = objectOf(payload);
  switch (type) {
    case "message":
      return messageDraft(textOf(role), contentText(content));
    case "reasoning":
      return {
        kind: "reasoning",
        text: listOf(summary)
          .map((part) => textOf(objectOf(part).text))
          .join("\n\n"),
      };
    case "function_call":
      return { kind: "call", name: textOf(name), text: valueText(orParsed(given)) };
    case "custom_tool_call":
      return { kind: "call", name: textOf(name), text: valueText(input) };
    case "local_shell_call":
      return { kind: "call", name: "shell", text: listOf(objectOf(action).command).map(valueText).join(" ") };
    case "web_search_call":
      return { kind: "call", name: "web search", text: textOf(objectOf(action).query) };
    case "function_call_output":
    case "custom_tool_call_output":
      return resultDraft(output);
    default:
      return undefined;
  }
}

function messageDraft(role: string, text: string): Draft {
  if (role === "assistant") return { kind: "assistant", text };
  return { kind: role === "user" && !OF_PROGRAM.test(text) ? "user" : "system", text };
}

/** An output is text, a list of content, or JSON text with the output and the exit code. */
function resultDraft(output: unknown): Draft {
  const value = orParsed(output);
  const { output: inner, content, metadata, success } = objectOf(value);
  const exitCode = objectOf(metadata).exit_code;
  return {
    kind: "result",
    text: contentText(inner ?? content ?? value),
    isError: success === false || (typeof exitCode === "number" && exitCode !== 0),
  };
}

function usageDraft(payload: unknown): Draft | undefined {
  const { type, info } = objectOf(payload);
  const tokens = type === "token_count" ? tokensOf(objectOf(info).last_token_usage, TOKENS) : null;
  return tokens ? { kind: "usage", text: "", tokens } : undefined;
}

const noteDraft = (type: unknown, payload: unknown): Draft | undefined =>
  type === "compacted"
    ? { kind: "note", text: `Compacted. ${textOf(objectOf(payload).message)}`.trim() }
    : undefined;

/** @returns the value of JSON text that is an object; anything else unchanged */
function orParsed(text: unknown): unknown {
  if (typeof text !== "string" || !text.startsWith("{")) return text;
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}
