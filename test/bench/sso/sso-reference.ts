// The reference for sso.ts, a process of its own: a server that does for each request what no sign-in gets around. It verifies the
// signature of one token and puts one row on the disk. Argument: an empty directory.
import { createLocalJWKSet, jwtVerify } from "jose";
import { ProviderKeys } from "../../support/provider/provider-keys.ts";
import { openWriter } from "../writes.ts";

const [directory = ""] = process.argv.slice(2);
const keys = new ProviderKeys("RS256");
const find = createLocalJWKSet(await keys.published());
const claims = { iss: "https://login.example.com", sub: "ada-1", nonce: "n".repeat(43) };
const token = await keys.sign(claims, { typ: "JWT", faults: {}, secret: "" });
const writer = openWriter(directory);

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async () => {
    await jwtVerify(token, find);
    await writer.write();
    return new Response(null, { status: 303, headers: { location: "/" } });
  },
});
console.log(server.url.origin);
