// Requests to a provider: which answers count as what, and what the log learns of a connection that fails.
import { afterAll, expect, test } from "bun:test";
import {
  ANSWER_BYTES_MAX,
  type ProviderRequest,
  ProviderRequests,
} from "../../../../src/domain/sso/provider/provider-requests.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { createOutbound } from "../../../../src/platform/outbound/outbound.ts";
import { heldClock } from "../../../support/world.ts";

/** Answers with the status, and as many bytes, that the path asks for. */
const server = Bun.serve({
  port: 0,
  fetch(request) {
    const [, status, bytes] = new URL(request.url).pathname.split("/").map(Number);
    const headers = { location: "/200/2" };
    return new Response(bytes === 0 ? null : "{}".padEnd(bytes ?? 0), { status: status ?? 0, headers });
  },
});
afterAll(() => server.stop(true));

/** @returns the status or the reason of the refusal, its cause, and how the request was counted */
async function send(path: string, origin = server.url.origin) {
  const counted: ProviderRequest[] = [];
  const destinations = () => [{ name: "identity-provider", origin, why: "sign-in" }];
  const outbound = createOutbound({ allowed: [], found: destinations });
  const observeSso = { requested: (request: ProviderRequest) => counted.push(request) };
  const dependencies = { clock: heldClock(), outbound, observeSso };
  const requests = new ProviderRequests(dependencies, { ca: undefined, destinations });
  const answer = await requests.send("token", `${origin}${path}`).catch((error: unknown) => error);
  const [{ endpoint, outcome, durationMs } = { durationMs: -1 }] = counted;
  expect([endpoint, counted.length, durationMs >= 0]).toEqual(["token", 1, true]);
  if (answer instanceof Response) return { answer: answer.status, outcome };
  if (answer instanceof DomainError) return { answer: answer.reason, outcome, cause: answer.cause };
  throw answer;
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
])("the status %d gives %p and counts as %s", async (status, answer, outcome) => {
  const bytes = status === 204 || status === 205 ? 0 : 2;
  expect(await send(`/${status}/${bytes}`)).toMatchObject({ answer, outcome });
});

test.each([
  [-1, 200, "answered"],
  [0, 200, "answered"],
  [1, "sso.provider_invalid", "invalid"],
])("an answer of the maximum size %d gives %p and counts as %s", async (more, answer, outcome) => {
  expect(await send(`/200/${ANSWER_BYTES_MAX + more}`)).toMatchObject({ answer, outcome });
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
