// Clients that continue to send a body after it was refused: the server must read the rest, otherwise the connection is reset and
// they lose the response.
import { expect, test } from "bun:test";
import { SCIM_BASE_PATH } from "../../../../src/domain/scim/wire.ts";
import { listen } from "../../../../src/server/listener/listen.ts";
import { NO_PROXIES, raise } from "../../../support/network/listening-server.ts";
import { converse } from "../../../support/network/raw-socket.ts";
import { createTestServer, SCIM_TOKEN } from "../../../support/server.ts";

/** Long, because the machine may be busy. */
const BODY_TIMES = { unauthenticatedMs: 20_000, graceMs: 10_000, silentMs: 20_000 };
const PATIENCE_MS = 10_000;
const PIECE = "x".repeat(64 * 1024);
/** More than sockets buffer. */
const PIECES = 128;
const CHUNK = `${PIECE.length.toString(16)}\r\n${PIECE}\r\n`;

const JSON_TYPE = "Content-Type: application/json";
const FORM_TYPE = "Content-Type: application/x-www-form-urlencoded";
const SCIM_TYPE = "Content-Type: application/scim+json";
const users = `${SCIM_BASE_PATH}/Users`;

test.each<[string, string, string[], number]>([
  ["JSON without a credential", "/api/login-method", [JSON_TYPE], 413],
  ["an OAuth form", "/api/auth/oauth2/token", [FORM_TYPE], 413],
  ["the form of a page", "/login", [FORM_TYPE, "Origin: null", "Sec-Fetch-Site: same-origin"], 413],
  ["SCIM with a credential", users, [SCIM_TYPE, `Authorization: Bearer ${SCIM_TOKEN}`], 413],
  ["SCIM with a refused credential", users, [SCIM_TYPE, "Authorization: Bearer unknown"], 401],
])(
  "a client that keeps sending too large a body hears the answer: %s",
  async (_name, path, lines, status) => {
    await using testServer = await createTestServer({ bodyTimes: BODY_TIMES });
    const tcp = { kind: "tcp", host: "127.0.0.1", port: 0 } as const;
    const listener = listen(testServer.server.handle, { ...NO_PROXIES, report: raise, listen: tcp });
    try {
      for (const [line, piece, end] of [
        ["Transfer-Encoding: chunked", CHUNK, "0\r\n\r\n"],
        [`Content-Length: ${PIECE.length * PIECES}`, PIECE, ""],
      ] as const) {
        const head = [`POST ${path} HTTP/1.1`, "Host: localhost", "Connection: close", ...lines, line];
        const pieces = Array.from({ length: PIECES }, () => [piece, 1]).flat();
        const steps = [`${head.join("\r\n")}\r\n\r\n`, ...pieces, end];
        const { text } = await converse(listener, steps, PATIENCE_MS);
        expect(text).toStartWith(`HTTP/1.1 ${status} `);
      }
    } finally {
      await listener.stop();
    }
  },
);

test("a client that stops sending and waits for the end of the response gets it before the time limit of the body", async () => {
  const bodyTimes = { unauthenticatedMs: 60_000, graceMs: 20, silentMs: 200 };
  await using testServer = await createTestServer({ bodyTimes });
  const tcp = { kind: "tcp", host: "127.0.0.1", port: 0 } as const;
  const listener = listen(testServer.server.handle, { ...NO_PROXIES, report: raise, listen: tcp });
  try {
    const lines = [SCIM_TYPE, `Authorization: Bearer ${SCIM_TOKEN}`, "Content-Length: 90000000"];
    const head = [`POST ${users} HTTP/1.1`, "Host: localhost", "Connection: close", ...lines].join("\r\n");
    const { text, isClosed } = await converse(listener, [`${head}\r\n\r\n${PIECE}`], PATIENCE_MS);
    expect(text).toStartWith("HTTP/1.1 413 ");
    expect([text.endsWith("\r\n0\r\n\r\n"), isClosed]).toEqual([true, true]);
  } finally {
    await listener.stop();
  }
});
