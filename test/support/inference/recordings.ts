// Responses of the three APIs in the form that models send, invented for these tests: event streams split into events, and the same
// responses as one JSON body. Texts have characters of two to four bytes, so that chunks can end inside a character.

/** The token counts of a response, in the names of the service. */
export interface RecordedUsage {
  input: number;
  output: number;
  cacheRead: number | null;
  cacheWrite: number | null;
}

export interface Recording {
  name: "chat" | "responses" | "messages";
  /** the path that the API's clients use */
  path: string;
  /** a request body that asks for such a stream */
  request: string;
  /** whole events, each with its blank line */
  events: readonly string[];
  usage: RecordedUsage;
  /** the same response without streaming */
  json: string;
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, members: Record<string, unknown> = {}): string =>
  `event: ${type}\n${data({ type, ...members })}`;

const MODEL = "willow-2";
const WORDS = ["The ", "naïve ", "plan ", "costs ", "12 € ", "and ", "works ", "🙂."] as const;
const TEXT = WORDS.join("");

const chatChunk = (choice: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  data({
    id: "chatcmpl-7Hq2",
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: MODEL,
    choices: [{ index: 0, finish_reason: null, ...choice }],
    ...more,
  });

const CHAT_USAGE = {
  prompt_tokens: 41,
  completion_tokens: 9,
  total_tokens: 50,
  prompt_tokens_details: { cached_tokens: 32, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

export const CHAT: Recording = {
  name: "chat",
  path: "/v1/chat/completions",
  request: JSON.stringify({
    model: MODEL,
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: "user", content: "What does it cost?" }],
  }),
  events: [
    chatChunk({ delta: { role: "assistant", content: "" } }),
    ...WORDS.map((content) => chatChunk({ delta: { content } })),
    chatChunk({ delta: {}, finish_reason: "stop" }),
    data({
      id: "chatcmpl-7Hq2",
      object: "chat.completion.chunk",
      created: 1_790_000_000,
      model: MODEL,
      choices: [],
      usage: CHAT_USAGE,
    }),
    "data: [DONE]\n\n",
  ],
  usage: { input: 41, output: 9, cacheRead: 32, cacheWrite: null },
  json: JSON.stringify({
    id: "chatcmpl-7Hq2",
    object: "chat.completion",
    created: 1_790_000_000,
    model: MODEL,
    choices: [{ index: 0, message: { role: "assistant", content: TEXT }, finish_reason: "stop" }],
    usage: CHAT_USAGE,
  }),
};

const RESPONSES_USAGE = {
  input_tokens: 57,
  input_tokens_details: { cached_tokens: 16 },
  output_tokens: 12,
  output_tokens_details: { reasoning_tokens: 3 },
  total_tokens: 69,
};

const response = (status: string, more: Record<string, unknown> = {}) => ({
  id: "resp_4c21",
  object: "response",
  created_at: 1_790_000_000,
  status,
  model: MODEL,
  output: [],
  usage: null,
  ...more,
});
const message = {
  id: "msg_19",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: TEXT, annotations: [] }],
};
const finished = response("completed", { output: [message], usage: RESPONSES_USAGE });

const responsesEvent = (type: string, more: Record<string, unknown>, sequence_number: number) =>
  event(type, { sequence_number, ...more });

export const RESPONSES: Recording = {
  name: "responses",
  path: "/v1/responses",
  request: JSON.stringify({ model: MODEL, stream: true, store: false, input: "What does it cost?" }),
  events: [
    responsesEvent("response.created", { response: response("in_progress") }, 0),
    responsesEvent("response.in_progress", { response: response("in_progress") }, 1),
    ...WORDS.map((delta, index) =>
      responsesEvent(
        "response.output_text.delta",
        { item_id: "msg_19", output_index: 0, content_index: 0, delta },
        index + 2,
      ),
    ),
    responsesEvent("response.output_item.done", { output_index: 0, item: message }, 10),
    responsesEvent("response.completed", { response: finished }, 11),
  ],
  usage: { input: 57, output: 12, cacheRead: 16, cacheWrite: null },
  json: JSON.stringify(finished),
};

const MESSAGES_INPUT = { input_tokens: 23, cache_creation_input_tokens: 11, cache_read_input_tokens: 70 };

export const MESSAGES: Recording = {
  name: "messages",
  path: "/v1/messages",
  request: JSON.stringify({
    model: MODEL,
    stream: true,
    max_tokens: 200,
    messages: [{ role: "user", content: "What does it cost?" }],
  }),
  events: [
    event("message_start", {
      message: {
        id: "msg_01",
        type: "message",
        role: "assistant",
        model: MODEL,
        content: [],
        stop_reason: null,
        usage: { ...MESSAGES_INPUT, output_tokens: 1 },
      },
    }),
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
    event("ping"),
    ...WORDS.map((text) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } })),
    event("content_block_stop", { index: 0 }),
    event("message_delta", {
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: { output_tokens: 14 },
    }),
    event("message_stop"),
  ],
  usage: { input: 23, output: 14, cacheRead: 70, cacheWrite: 11 },
  json: JSON.stringify({
    id: "msg_01",
    type: "message",
    role: "assistant",
    model: MODEL,
    content: [{ type: "text", text: TEXT }],
    stop_reason: "end_turn",
    usage: { ...MESSAGES_INPUT, output_tokens: 14 },
  }),
};

export const RECORDINGS: readonly Recording[] = [CHAT, RESPONSES, MESSAGES];

/** @returns the whole event stream */
export const bytesOf = ({ events }: Recording): Buffer => Buffer.from(events.join(""));
