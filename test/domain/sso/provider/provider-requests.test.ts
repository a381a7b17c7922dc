// Requests to a provider: how responses are classified, and what the log has of a failed connection.
import { afterAll, expect, test } from "bun:test";
import {
  type ProviderRequest,
  ProviderRequests,
  RESPONSE_BYTES_MAX,
} from "../../../../src/domain/sso/provider/provider-requests.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { createOutbound } from "../../../../src/platform/outbound/outbound.ts";
import { heldClock } from "../../../support/world.ts";

/** Responds with the status and the number of bytes in the path. */
const server = Bun.serve({
  port: 0,
  fetch(request) {
    const { pathname, search } = new URL(request.url);
    const [, status, bytes] = pathname.split("/").map(Number);
    const body = bytes === 0 ? null : "{}".padEnd(bytes ?? 0);
    if (search === "?gzip")
      return new Response(Bun.gzipSync(body ?? ""), { headers: { "content-encoding": "gzip" } });
    if (search === "?chunks") return new Response(new Blob([body ?? ""]).stream());
    return new Response(body, { status: status ?? 0, headers: { location: "/200/2" } });
  },
});
afterAll(() => server.stop(true));

/** @returns the status or the reason of the refusal, its cause, and how the request was counted */
async function send(path: string, origin = server.url.origin, input = origin) {
  const counted: ProviderRequest[] = [];
  const destinations = () => [{ name: "identity-provider", origin, why: "sign-in" }];
  const outbound = createOutbound({ allowed: [], found: destinations });
  const observeSso = { requested: (request: ProviderRequest) => counted.push(request) };
  const dependencies = { clock: heldClock(), outbound, observeSso };
  const requests = new ProviderRequests(dependencies, { ca: undefined, destinations });
  const begunAtMs = performance.now();
  const response = await requests.send("token", `${input}${path}`).catch((error: unknown) => error);
  const allMs = performance.now() - begunAtMs;
  const [{ endpoint, outcome, durationMs } = { durationMs: -1 }] = counted;
  expect([endpoint, counted.length, durationMs >= 0 && durationMs <= allMs]).toEqual(["token", 1, true]);
  if (response instanceof Response) return { answer: response.status, outcome };
  if (response instanceof DomainError) return { answer: response.reason, outcome, cause: response.cause };
  throw response;
}

test.each([
  [200, 200, "answered"],
  [204, 200, "answered"],
  [205, 200, "answered"],
  [303, "sso.provider_invalid", "invalid"],
  [400, 400, "refused"],
  [428, 428, "refused"],
  [429, "sso.provider_unreachable", "unreachable"],
  [430, 430, "refused"],
  [499, 499, "refused"],
  [500, "sso.provider_unreachable", "unreachable"],
  [501, "sso.provider_unreachable", "unreachable"],
])("the status %d gives %p and counts as %s", async (status, response, outcome) => {
  const bytes = status === 204 || status === 205 ? 0 : 2;
  expect(await send(`/${status}/${bytes}`)).toMatchObject({ answer: response, outcome });
});

test.each([
  [-1, 200, "answered"],
  [0, 200, "answered"],
  [1, "sso.provider_invalid", "invalid"],
])("a response of the maximum size %d gives %p and counts as %s", async (more, response, outcome) => {
  for (const how of ["", "?gzip", "?chunks"])
    expect(await send(`/200/${RESPONSE_BYTES_MAX + more}${how}`)).toMatchObject({
      answer: response,
      outcome,
    });
});

test("SSO-42 a host that is not the provider's is not asked", async () => {
  const found = await send("/200/2", "https://login.example.org", server.url.origin);
  expect(found).toMatchObject({ answer: "sso.provider_invalid", outcome: "invalid" });
});

test("a response whose chunks exceed its announced length is bounded", async () => {
  const chunk = "x".repeat(RESPONSE_BYTES_MAX + 1);
  const head = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n";
  using liar = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data: (socket) => void socket.end(`${head}${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`),
    },
  });
  const found = await send("/", `http://127.0.0.1:${liar.port}`);
  expect(found).toMatchObject({ answer: "sso.provider_invalid", outcome: "invalid" });
});

test("the cause of a connection that fails has the code and no address", async () => {
  const closed = Bun.serve({ port: 0, fetch: () => new Response() });
  const { origin, port } = closed.url;
  await closed.stop(true);
  const { answer, outcome, cause } = await send("/200/2", origin);
  expect([answer, outcome]).toEqual(["sso.provider_unreachable", "unreachable"]);
  expect(cause).toMatch(/^the connection failed \([A-Za-z]+\)$/);
  expect(cause).not.toContain(port);
});
