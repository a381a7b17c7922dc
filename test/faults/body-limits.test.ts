// Every route that accepts a body gets one at the limit of its kind and one above it. One function reads a kind of body for all
// routes, so only the first route of each limit also gets a body below it, and each body both with and without a declared length.
// Limits of the content of a body are tested with their models.
import { expect, test } from "bun:test";
import { type Accepted, bodyBytesMax } from "../../src/server/http/bodies/body.ts";
import { SCIM_BYTES_MAX } from "../../src/server/scim/body.ts";
import { createGatewayServer, PROXY_TOKEN } from "../support/gateway/gateway-server.ts";
import { type Caller, SCIM_TOKEN, type Sent } from "../support/server.ts";

const FORM_TYPE = "application/x-www-form-urlencoded";
const TYPES: Readonly<Record<Exclude<Accepted, "nothing" | "bytes" | "upload">, string>> = {
  json: "application/json",
  "json-or-nothing": "application/json",
  form: FORM_TYPE,
  scim: "application/scim+json",
  "scim-group": "application/scim+json",
};

const bytesMaxOf = (kind: string, requires: string | undefined): number =>
  kind === "scim" || kind === "scim-group" ? SCIM_BYTES_MAX[kind] : bodyBytesMax(requires);

test.each(Object.entries(TYPES))(
  "a body of the kind %s is refused for its size only above the limit",
  async (kind, type) => {
    await using testServer = await createGatewayServer();
    const administrator = await testServer.signedIn("admin");
    const routes = (await testServer.server.allRoutes()).filter(
      ({ hooks }) => hooks.detail?.["x-accepts"] === kind,
    );
    expect(routes).not.toEqual([]);
    const limitsSeen = new Set<number>();
    for (const { method, path, hooks } of routes) {
      const bytesMax = bytesMaxOf(kind, hooks.detail?.["x-requires"]);
      const spaces = new Uint8Array(bytesMax + 1).fill(0x20); // members with no meaning
      const declared = (bytes: number) => spaces.subarray(0, bytes);
      const chunked = (bytes: number) => new Blob([declared(bytes)]).stream();
      const credential = credentialFor(hooks.detail?.["x-requires"], administrator);
      const place = path.replaceAll(/:\w+/g, crypto.randomUUID());
      const bodies: [body: Uint8Array | ReadableStream, isTooLarge: boolean][] = [
        [declared(bytesMax), false],
        [chunked(bytesMax + 1), true],
      ];
      if (!limitsSeen.has(bytesMax))
        bodies.push(
          [declared(bytesMax - 1), false],
          [chunked(bytesMax), false],
          [declared(bytesMax + 1), true],
        );
      limitsSeen.add(bytesMax);
      for (const [body, isTooLarge] of bodies) {
        const { status } = await testServer.request(method, place, {
          ...credential,
          headers: { "content-type": type },
          body,
        });
        expect([method, path, status === 413]).toEqual([method, path, isTooLarge]);
      }
    }
  },
);

function credentialFor(requirement: string | undefined, { accessToken, cookie }: Caller): Sent {
  if (requirement === "session") return { cookie };
  if (requirement === "scim") return { token: SCIM_TOKEN };
  return { token: requirement === "proxy" ? PROXY_TOKEN : accessToken };
}
