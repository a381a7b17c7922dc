// Bundles of captured sessions as clients make them, and short transcripts of every harness.
import { sha256Hex } from "../../../src/platform/ids.ts";
import { GNU_MAGIC, tarEntry, tarGzOf } from "./tar.ts";

const ROLES: Readonly<Record<string, string>> = {
  codex: "rollout",
  claude: "primary_transcript",
  kimi: "agent_wire_history",
  opencode: "portable_export",
};

const fileOf = (name: string, body: string | Uint8Array) =>
  tarEntry({ name, magic: GNU_MAGIC, mode: "0000600" }, body);

/** @returns the manifest of a bundle with these files */
export const manifestOf = (
  harness: string,
  files: readonly { role: string; path: string; body: string }[],
): string =>
  JSON.stringify({
    schema_version: 1,
    artifact_format: "blue-session-bundle-v1",
    harness,
    native_session_id: "0199-native",
    files: files.map(({ role, path, body }) => ({
      role,
      path,
      size: Buffer.byteLength(body),
      sha256: sha256Hex(body),
    })),
  });

/** @returns the archive with the transcript, after the other files of the session */
export function bundleOf(harness: string, transcript: string, companion = "state"): Uint8Array {
  const files = [
    { role: "session_companion", path: "files/0000-state.json", body: companion },
    { role: ROLES[harness] ?? "rollout", path: "files/0001-transcript.jsonl", body: transcript },
  ];
  return tarGzOf(
    fileOf("manifest.json", manifestOf(harness, files)),
    ...files.map(({ path, body }) => fileOf(path, body)),
  );
}

export const linesOf = (...records: readonly unknown[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

const AT = "2026-05-04T08:30:00.000Z";
const AT_MS = Date.parse(AT);

/** One question, one thought, one call with its result, one answer and the tokens, in the format of each harness. */
export const TRANSCRIPTS: Readonly<Record<string, string>> = {
  codex: linesOf(
    { timestamp: AT, type: "session_meta", payload: { id: "0199-native", cwd: "/home/ada" } },
    ...[
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "<environment_context>linux" }],
      },
      { type: "message", role: "user", content: [{ type: "input_text", text: "Why does the test fail?" }] },
      {
        type: "reasoning",
        summary: [{ type: "summary_text", text: "Run it first." }],
        encrypted_content: "x",
      },
      { type: "function_call", name: "shell", arguments: '{"command":["bun","test"]}', call_id: "1" },
      {
        type: "function_call_output",
        call_id: "1",
        output: '{"output":"1 fail","metadata":{"exit_code":1}}',
      },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "The clock is fixed." }] },
    ].map((payload) => ({ timestamp: AT, type: "response_item", payload })),
    {
      timestamp: AT,
      type: "event_msg",
      payload: { type: "token_count", info: { last_token_usage: { input_tokens: 1200, output_tokens: 34 } } },
    },
  ),
  claude: linesOf(
    { type: "file-history-snapshot", messageId: "m" },
    { type: "user", isMeta: true, timestamp: AT, message: { role: "user", content: "Caveat" } },
    { type: "user", timestamp: AT, message: { role: "user", content: "Why does the test fail?" } },
    {
      type: "assistant",
      timestamp: AT,
      message: {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Run it first." },
          { type: "tool_use", id: "1", name: "Bash", input: { command: "bun test" } },
        ],
        usage: { input_tokens: 200, cache_read_input_tokens: 1000, output_tokens: 34 },
      },
    },
    {
      type: "user",
      timestamp: AT,
      message: {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "1",
            content: [{ type: "text", text: "1 fail" }],
            is_error: true,
          },
        ],
      },
    },
    {
      type: "assistant",
      timestamp: AT,
      message: { role: "assistant", content: [{ type: "text", text: "The clock is fixed." }] },
    },
  ),
  kimi: linesOf(
    { type: "metadata", protocol_version: "1.4", created_at: AT_MS },
    {
      type: "context.append_message",
      time: AT_MS,
      message: { role: "user", origin: { kind: "injection" }, content: [{ type: "text", text: "reminder" }] },
    },
    {
      type: "context.append_message",
      time: AT_MS,
      message: { role: "user", content: [{ type: "text", text: "Why does the test fail?" }] },
    },
    ...[
      { type: "content.part", part: { type: "think", think: "Run it first." } },
      { type: "tool.call", toolCallId: "1", name: "Shell", args: { command: "bun test" } },
      { type: "tool.result", toolCallId: "1", result: { output: "1 fail", isError: true } },
      { type: "content.part", part: { type: "text", text: "The clock is fixed." } },
      { type: "step.end", usage: { inputOther: 200, inputCacheRead: 1000, output: 34 } },
    ].map((event) => ({ type: "context.append_loop_event", time: AT_MS, event })),
  ),
  opencode: JSON.stringify({
    info: { id: "ses_1", title: "messages", time: { created: AT_MS } },
    messages: [
      {
        info: { role: "user", time: { created: AT_MS } },
        parts: [
          { type: "text", synthetic: true, text: "reminder" },
          { type: "text", text: "Why does the test fail?" },
        ],
      },
      {
        info: {
          role: "assistant",
          time: { created: AT_MS },
          tokens: { input: 200, output: 30, reasoning: 4, cache: { read: 1000, write: 0 } },
        },
        parts: [
          { type: "step-start" },
          { type: "reasoning", text: "Run it first." },
          {
            type: "tool",
            tool: "bash",
            state: {
              status: "error",
              input: { command: "bun test" },
              error: "1 fail",
              time: { start: AT_MS, end: AT_MS },
            },
          },
          { type: "text", text: "The clock is fixed." },
        ],
      },
    ],
  }),
};
