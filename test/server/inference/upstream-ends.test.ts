// An upstream that dies: at every byte of a stream, before its head, or without a response. The client's response never looks
// complete, and nothing is sent twice.
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { createForwardingSite } from "../../support/inference/forwarding.ts";
import { RawClient } from "../../support/inference/raw-client.ts";
import { CHAT, MESSAGES, RECORDINGS, RESPONSES } from "../../support/inference/recordings.ts";
import {
  EVENT_STREAM,
  type Header,
  type Script,
  type UpstreamExchange,
} from "../../support/inference/upstream.ts";

const site = await createForwardingSite();
const { upstream } = site;
afterEach(() => site.forget());
afterAll(() => site[Symbol.asyncDispose]());

const post = (path: string, body: string) => fetch(site.origin + path, { method: "POST", body });

/** Parallel requests; more would only wait for the processor. */
const WIDTH = 16;

/** Runs the work for 0 to count - 1. */
async function forEach(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const line = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: WIDTH }, line));
}

describe("an upstream that dies never looks finished (INF-23)", () => {
  test.each(RECORDINGS.map((recording) => [recording.name, recording] as const))(
    "looks unfinished at every byte of the last events of %s, by FIN and by RST",
    async (_, recording) => {
      const bytes = Buffer.from(recording.events.slice(-2).join(""));
      const exchanges = new Map<number, UpstreamExchange>();
      upstream.script = async (exchange) => {
        const at = Number(exchange.header("x-at"));
        exchanges.set(at, exchange);
        await exchange.head(200, EVENT_STREAM);
        await exchange.chunk(bytes.subarray(0, at));
      };
      await forEach(bytes.length, async (index) => {
        const at = index + 1;
        const client = RawClient.post(site.port, recording.path, "{}", { headers: `X-At: ${at}\r\n` });
        await client.until(({ body }) => body.length === at);
        if (at % 2 === 0) exchanges.get(at)?.close();
        else exchanges.get(at)?.reset();
        expect(await client.ended).toBe("reset");
        expect(client.isWhole).toBe(false);
        expect(client.body.equals(bytes.subarray(0, at))).toBe(true);
      });
      expect(site.rows.map(({ outcome }) => outcome)).toEqual(Array(bytes.length).fill("upstream_closed"));
      expect(site.held).toBe(0);
    },
  );

  test.each(RECORDINGS.map((recording) => [recording.name, recording] as const))(
    "looks unfinished at every byte of a stream of %s that has neither a length nor chunks",
    async (_, recording) => {
      const bytes = Buffer.from(recording.events.slice(-2).join(""));
      sendUnframed("text/event-stream", bytes);
      const complete = await completeAt(recording.path, bytes);
      const final = String(bytes).trimEnd().length;
      expect(complete.filter((at) => at < final)).toEqual([]);
      expect(complete).toContain(bytes.length);
    },
  );

  const NESTED: [string, string, string][] = [
    ["messages", MESSAGES.path, "message_stop"],
    ["messages", MESSAGES.path, "error"],
    ["responses", RESPONSES.path, "response.completed"],
  ];
  test.each(NESTED)(
    "looks unfinished after an unframed event of %s (%s) with an inner object of the type %s",
    async (_, path, type) => {
      const inner = JSON.stringify({ type });
      const events = [
        `event: x\ndata: {"type":"x","delta":${inner},"content":[${inner}]}\n\n`,
        `event: x\ndata: {"delta":{"a":["type"],"type" : "${type}"}, "name":"type", "b":"${type}"}\r\n\r\n`,
        `data: {"text":${JSON.stringify(inner)},"type":"${type}x"}\r\r`,
        `data: {"name":1,"type":"x"}\n\ndata: {"${type}":1,"type":"x","${type}":2}\n\n`,
        `: a comment with an open "\n\ndata: {"type":["${type}"]}\n\n`,
      ];
      const bytes = Buffer.from(events.join(""));
      sendUnframed("text/event-stream", bytes);
      expect(await completeAt(path, bytes)).toEqual([]);
    },
  );

  test.each(NESTED)(
    "looks complete after an unframed final event of %s (%s), wherever it has the type %s",
    async (_, path, type) => {
      for (const [before, data] of [
        ["", `{"type":"${type}","response":{"type":"x"}}`],
        ["", `{ "response" : {"type":"x","a":[{}]}, "b":"\\"", "type" : "${type}" }`],
        ["", `{\r\ndata: "type":\r\ndata: "${type}"\r\ndata: }`],
        [': an open { and "\n\n', `{"sequence_number":9,"type":"${type}"}`],
        ['data: {"type":"x","cut', `\r\n\r\ndata: {"type":"${type}"}`],
      ] as const) {
        for (const end of ["\n\n", "\r\r", "\r\n\r\n"]) {
          const bytes = Buffer.from(`${before}data: ${data}${end}`);
          sendUnframed("text/event-stream", bytes);
          const client = RawClient.post(site.port, path, "{}", {
            headers: `X-At: ${bytes.length}\r\nConnection: close\r\n`,
          });
          await client.ended;
          expect([data, end, client.isWhole && client.status]).toEqual([data, end, 200]);
        }
      }
    },
  );

  test.each(['{"a":["}\\"]}",{"b":"\\\\"}],"c":1}', '[{"a":"["}]', '"alive]"'])(
    "looks unfinished at every byte of %s, which has neither a length nor chunks",
    async (json) => {
      const bytes = Buffer.from(` ${json}\n`);
      sendUnframed("application/json; charset=utf-8", bytes);
      expect(await completeAt(CHAT.path, bytes)).toEqual([bytes.length - 1, bytes.length]);
    },
  );

  test.each(['{"a":["}"]}', '[{"b":1}]'])(
    "looks unfinished inside an unframed %s without a type",
    async (json) => {
      const bytes = Buffer.from(` ${json}\n`);
      sendUnframed(undefined, bytes);
      expect(await completeAt(CHAT.path, bytes)).toEqual([0, 1, bytes.length - 1, bytes.length]);
    },
  );

  test.each([
    [undefined, []],
    ["text/plain", []],
    ["application/json", [["content-encoding", "gzip"]]],
  ] as [string | undefined, Header[]][])(
    "passes unframed %s %j on, whose end cannot be recognized",
    async (type, more) => {
      const bytes = Buffer.from(type === undefined ? "a{" : "{");
      sendUnframed(type, bytes, more);
      expect(await completeAt(CHAT.path, bytes)).toEqual([...Array(bytes.length + 1).keys()]);
    },
  );

  test.each([
    ...RECORDINGS.map((recording) => [recording.name, undefined, recording] as const),
    ...RECORDINGS.map((recording) => [recording.name, "application/json", recording] as const),
  ])("looks unfinished inside an unframed stream of %s with the type %s", async (_, type, recording) => {
    const bytes = Buffer.from(recording.events.slice(-2).join(""));
    sendUnframed(type, bytes);
    const complete = await completeAt(recording.path, bytes);
    const final = String(bytes).trimEnd().length;
    expect(complete.filter((at) => at > 0 && at < final)).toEqual([]);
    expect(complete).toContain(bytes.length);
  });

  /** The upstream ends such a response by closing the connection, after as many bytes as a header says. */
  function sendUnframed(type: string | undefined, bytes: Uint8Array, more: readonly Header[] = []): void {
    upstream.script = async (exchange) => {
      const at = Number(exchange.header("x-at"));
      const typed: Header[] = type === undefined ? [] : [["content-type", type]];
      await exchange.head(200, [...typed, ...more]);
      await exchange.write(bytes.subarray(0, at));
      exchange.close();
    };
  }

  /** @returns the numbers of bytes after which the response looked complete */
  async function completeAt(path: string, bytes: Uint8Array): Promise<number[]> {
    const complete: number[] = [];
    await forEach(bytes.length + 1, async (at) => {
      const client = RawClient.post(site.port, path, "{}", {
        headers: `X-At: ${at}\r\nConnection: close\r\n`,
      });
      await client.ended;
      if (client.isWhole && client.status === 200) complete.push(at);
      else expect([502, 200]).toContain(client.status ?? 200);
    });
    expect(site.held).toBe(0);
    return complete.sort((one, other) => one - other);
  }

  const PARTS: [string, Script][] = [
    [
      "between two chunks",
      async (exchange) => {
        await exchange.head(200, [
          ["content-type", "application/json"],
          ["transfer-encoding", "chunked"],
        ]);
        await exchange.chunk("{");
      },
    ],
    [
      "inside a chunk",
      async (exchange) => {
        await exchange.head(200, [["transfer-encoding", "chunked"]]);
        await exchange.write("ff\r\n{");
      },
    ],
    [
      "before the declared length",
      async (exchange) => {
        await exchange.head(200, [["content-length", "100"]]);
        await exchange.write("{");
      },
    ],
  ];
  test.each(PARTS)("%s of another response", async (_, script) => {
    upstream.script = script;
    const client = RawClient.post(site.port, CHAT.path, "{}");
    await client.until(({ body }) => String(body) === "{");
    (await upstream.exchange()).close();
    expect(await client.ended).toBe("reset");
    expect(await site.row()).toMatchObject({ outcome: "upstream_closed", httpStatus: 200 });
  });
});

describe("failures before the first byte of a response have a status (INF-30)", () => {
  test.each([
    ["closes the connection", "inference.upstream_reset", (exchange) => exchange.close()],
    ["resets the connection", "inference.upstream_reset", (exchange) => exchange.reset()],
    [
      "ends inside its head",
      "inference.upstream_reset",
      async (exchange) => {
        await exchange.write("HTTP/1.1 200 OK\r\ncontent-le");
        exchange.close();
      },
    ],
    [
      "ends a stream behind its head",
      "inference.upstream_reset",
      async (exchange) => {
        await exchange.head(200, EVENT_STREAM);
        exchange.close();
      },
    ],
    [
      "ends behind its head",
      "inference.upstream_reset",
      async (exchange) => {
        await exchange.head(200, [["content-length", "5"]]);
        exchange.close();
      },
    ],
  ] satisfies [string, string, Script][])(
    "answers with a status when the upstream %s",
    async (_, reason, script) => {
      upstream.script = script;
      const response = await post(CHAT.path, "{}");
      const body = await response.json();
      expect([response.status, body.reason, body.error.code]).toEqual([502, reason, "upstream_failed"]);
      expect(JSON.stringify(body)).not.toMatch(/127\.0\.0\.1|socket|verbose|E[A-Z]+:/);
      expect(await site.row()).toMatchObject({
        outcome: "upstream_closed",
        refusal: reason,
        httpStatus: 502,
      });
      expect([upstream.exchanges.length, site.held]).toEqual([1, 0]);
    },
  );

  test("answers unreachable when nothing listens, and for a second at once", async () => {
    await using down = await createForwardingSite();
    await down.upstream[Symbol.asyncDispose]();
    const reasons = [];
    for (let round = 0; round < 2; round += 1) {
      const response = await fetch(down.origin + MESSAGES.path, { method: "POST", body: "{}" });
      const { error, reason } = await response.json();
      reasons.push([response.status, error.type, reason]);
    }
    const expected = [502, "api_error", "inference.upstream_unreachable"];
    expect(reasons).toEqual([expected, expected]);
    expect(await down.row()).toMatchObject({ outcome: "upstream_closed", httpStatus: 502 });
  });
});

describe("nothing is sent twice (INF-28)", () => {
  const once: [string, Script][] = [
    ["a reset", (exchange) => exchange.reset()],
    ["an end without an answer", (exchange) => exchange.close()],
    ["a 500", (exchange) => exchange.answer(500, "{}")],
    ["a 503", (exchange) => exchange.answer(503, "{}", [["retry-after", "1"]])],
    ["a 429", (exchange) => exchange.answer(429, "{}")],
    ["a 408", (exchange) => exchange.answer(408, "{}")],
    ["a 401 that is not about the key", (exchange) => exchange.answer(401, '{"error":{"message":"no"}}')],
    [
      "an end in the middle of an answer",
      async (exchange) => {
        await exchange.head(200, EVENT_STREAM);
        await exchange.chunk("data: 1\n\n");
        exchange.reset();
      },
    ],
  ];
  test.each(once)("sends no request again after %s", async (_, script) => {
    upstream.script = async (exchange) => {
      await exchange.body();
      await script(exchange);
    };
    await post(CHAT.path, CHAT.request)
      .then((response) => response.text())
      .catch(() => "reset");
    await site.row();
    await post(CHAT.path, CHAT.request)
      .then((response) => response.text())
      .catch(() => "reset");
    await site.row(1);
    expect(upstream.exchanges).toHaveLength(2);
  });

  test("sends no request again after a timeout", async () => {
    upstream.script = () => {};
    const response = post(CHAT.path, CHAT.request);
    await upstream.exchange();
    site.pass(600_000);
    expect((await response).status).toBe(504);
    expect(upstream.exchanges).toHaveLength(1);
  });

  test("answers 502 to POST and sends GET again on a pooled connection that the upstream has closed", async () => {
    const outcomes = [];
    for (const method of ["GET", "POST"] as const) {
      upstream.script = async (exchange) => {
        await exchange.body();
        await exchange.answer(200, "{}");
      };
      await (await post(CHAT.path, CHAT.request)).text();
      const before = upstream.exchanges.length;
      // The connection is in the pool. The next request on it is received, and the connection ends without a response.
      upstream.script = (exchange) => {
        upstream.script = async (again) => {
          await again.body();
          await again.answer(200, "{}");
        };
        exchange.reset();
      };
      const init = method === "POST" ? { method, body: CHAT.request } : { method };
      const { status } = await fetch(`${site.origin}/v1/models`, init);
      outcomes.push([method, status, upstream.exchanges.length - before]);
    }
    expect(outcomes).toEqual([
      ["GET", 200, 2],
      ["POST", 502, 1],
    ]);
  });
});
