// The official clients of the three APIs with the inference proxy, with the URL and token that a workstation gets: responses,
// streams, tools, an abort in the middle, retries and errors.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { createProxyServer, type ProxyServer } from "../support/inference/proxy-server.ts";
import { CHAT, MESSAGES, RESPONSES } from "../support/inference/recordings.ts";
import type { UpstreamExchange } from "../support/inference/upstream.ts";

let proxy: ProxyServer;
let token: string;

beforeAll(async () => {
  proxy = await createProxyServer();
  token = await proxy.tokenOf(await proxy.signedIn("member"));
});
beforeEach(forgetRequests);
afterAll(() => proxy[Symbol.asyncDispose]());

/** Connections stay open, because a request on a closed connection would fail. */
function forgetRequests(): void {
  proxy.models.exchanges.length = 0;
}

const openai = (maxRetries = 0) => new OpenAI({ apiKey: token, baseURL: proxy.proxyUrl, maxRetries });
const anthropic = (maxRetries = 0) => new Anthropic({ apiKey: token, baseURL: proxy.proxyUrl, maxRetries });

const MODEL = "willow-2";
const QUESTION = "What does it cost?";
const TEXT = "The naïve plan costs 12 € and works 🙂.";
const CHAT_QUESTION = { model: MODEL, messages: [{ role: "user" as const, content: QUESTION }] };
const MESSAGES_QUESTION = { ...CHAT_QUESTION, max_tokens: 200 };

/** Answers every request with these events. */
const streamOf =
  (events: readonly string[]) =>
  async (exchange: UpstreamExchange): Promise<void> => {
    await exchange.body();
    await exchange.stream(events);
  };

/** Sends the first event, and nothing more until the client disconnects. */
const stall = (events: readonly string[]) => async (exchange: UpstreamExchange) => {
  await exchange.head(200, [
    ["content-type", "text/event-stream"],
    ["transfer-encoding", "chunked"],
  ]);
  for (const event of events.slice(0, 4)) await exchange.chunk(event);
  await exchange.closed;
};

describe("the client of OpenAI", () => {
  test("reads a response and its usage", async () => {
    proxy.models.script = async (exchange) => {
      await exchange.body();
      await exchange.answer(200, CHAT.json);
    };
    const { choices, usage } = await openai().chat.completions.create(CHAT_QUESTION);
    expect(choices[0]?.message.content).toBe(TEXT);
    expect(usage?.prompt_tokens).toBe(CHAT.usage.input);
    const [sent] = proxy.models.exchanges;
    expect(sent?.target).toBe("/chat/completions");
    expect(sent?.header("authorization")).toStartWith("Bearer sk-");
  });

  test("reads a stream of chat completions", async () => {
    proxy.models.script = streamOf(CHAT.events);
    const stream = await openai().chat.completions.create({ ...CHAT_QUESTION, stream: true });
    let text = "";
    for await (const { choices } of stream) text += choices[0]?.delta?.content ?? "";
    expect(text).toBe(TEXT);
  });

  test("reads a stream of responses", async () => {
    proxy.models.script = streamOf(RESPONSES.events);
    const stream = await openai().responses.create({ model: MODEL, input: QUESTION, stream: true });
    const types: string[] = [];
    for await (const { type } of stream) types.push(type);
    expect(types.at(-1)).toBe("response.completed");
  });

  test("runs a tool and sends its result with the next request", async () => {
    proxy.models.script = async (exchange) => {
      const { messages } = JSON.parse((await exchange.body()).toString());
      const isResult = messages.at(-1).role === "tool";
      await exchange.answer(200, isResult ? CHAT.json : TOOL_CALL);
    };
    const runner = openai().chat.completions.runTools({
      ...CHAT_QUESTION,
      tools: [
        {
          type: "function",
          function: { name: "price", description: "", parameters: {}, function: () => "12 €" },
        },
      ],
    });
    expect(await runner.finalContent()).toBe(TEXT);
    expect(proxy.models.exchanges).toHaveLength(2);
  });

  test("ends the work of the upstream when it aborts in the middle of a response", async () => {
    proxy.models.script = stall(CHAT.events);
    const stream = await openai().chat.completions.create({ ...CHAT_QUESTION, stream: true });
    for await (const _ of stream) break; // the client aborts when its reader stops
    await (await proxy.models.exchange()).closed;
    expect(proxy.models.exchanges).toHaveLength(1);
  });

  test("repeats a failed request, because the proxy does not", async () => {
    proxy.models.script = async (exchange) => {
      await exchange.body();
      const isFirst = proxy.models.exchanges.length === 1;
      await exchange.answer(isFirst ? 500 : 200, isFirst ? "{}" : CHAT.json, [["retry-after-ms", "1"]]);
    };
    const failed = await openai()
      .chat.completions.create(CHAT_QUESTION)
      .catch((error) => error);
    expect(failed).toMatchObject({ status: 500 });
    expect(proxy.models.exchanges).toHaveLength(1);
    forgetRequests();
    const { choices } = await openai(1).chat.completions.create(CHAT_QUESTION);
    expect(choices[0]?.message.content).toBe(TEXT);
    expect(proxy.models.exchanges).toHaveLength(2);
  });

  test("shows our refusal as an error of the API", async () => {
    const stranger = new OpenAI({ apiKey: "no-token", baseURL: proxy.proxyUrl, maxRetries: 0 });
    const refused = await stranger.chat.completions.create(CHAT_QUESTION).catch((error) => error);
    expect(refused).toBeInstanceOf(OpenAI.AuthenticationError);
    expect(refused).toMatchObject({ code: "invalid_api_key", type: "invalid_request_error" });
    expect(proxy.models.exchanges).toHaveLength(0);
  });
});

describe("the client of Anthropic", () => {
  test("reads a response, with the token as API key or as bearer token", async () => {
    proxy.models.script = async (exchange) => {
      await exchange.body();
      await exchange.answer(200, MESSAGES.json);
    };
    const { content, usage } = await anthropic().messages.create(MESSAGES_QUESTION);
    expect(content).toMatchObject([{ type: "text", text: TEXT }]);
    expect(usage.output_tokens).toBe(MESSAGES.usage.output);
    const other = new Anthropic({ authToken: token, apiKey: null, baseURL: proxy.proxyUrl, maxRetries: 0 });
    await other.messages.create(MESSAGES_QUESTION, { query: { beta: "true" } }); // the header that Claude uses
    expect(proxy.models.exchanges.map(({ target }) => target)).toEqual([
      "/v1/messages",
      "/v1/messages?beta=true",
    ]);
    for (const exchange of proxy.models.exchanges) {
      expect(exchange.header("authorization")).toStartWith("Bearer sk-");
      expect(exchange.header("x-api-key")).toBeUndefined();
      expect(exchange.header("anthropic-version")).toMatch(/^\d{4}-\d\d-\d\d$/);
    }
  });

  test("reads a stream of messages", async () => {
    proxy.models.script = streamOf(MESSAGES.events);
    const message = await anthropic().messages.stream(MESSAGES_QUESTION).finalMessage();
    expect(message.content).toMatchObject([{ type: "text", text: TEXT }]);
    expect(message.usage).toMatchObject({ input_tokens: 23, output_tokens: 14 });
  });

  test("ends the work of the upstream when it aborts in the middle of a response", async () => {
    proxy.models.script = stall(MESSAGES.events);
    const stream = anthropic().messages.stream(MESSAGES_QUESTION);
    for await (const _ of stream) break;
    stream.abort();
    await (await proxy.models.exchange()).closed;
    expect(proxy.models.exchanges).toHaveLength(1);
  });

  test("shows our refusal as an error of the API", async () => {
    const stranger = new Anthropic({ apiKey: "no-token", baseURL: proxy.proxyUrl, maxRetries: 0 });
    const refused = await stranger.messages.create(MESSAGES_QUESTION).catch((error) => error);
    expect(refused).toBeInstanceOf(Anthropic.AuthenticationError);
    expect(refused.error).toMatchObject({ type: "error", error: { type: "authentication_error" } });
    expect(proxy.models.exchanges).toHaveLength(0);
  });
});

const TOOL_CALL = JSON.stringify({
  id: "chatcmpl-8",
  object: "chat.completion",
  created: 1_790_000_000,
  model: MODEL,
  choices: [
    {
      index: 0,
      finish_reason: "tool_calls",
      message: {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "call_1", type: "function", function: { name: "price", arguments: "{}" } }],
      },
    },
  ],
});
