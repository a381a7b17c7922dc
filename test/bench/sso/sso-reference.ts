// The reference for sso.ts, in a separate process: a server that does only what every server must do for a sign-in. It redeems a
// code with a plain `fetch`, verifies the ID token with jose, and commits as many rows as the service does for a sign-in. At the path
// /rows it commits the same rows as the service. Arguments: an empty directory, the issuer of the provider, and the database of an
// installation.
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import { openWriter } from "../writes.ts";
import { openSignIns } from "./sso-rows.ts";
import { ROWS_PATH, SIGN_IN_ROWS, type TokenRequest, WAITED_HEADER } from "./sso-share.ts";

const [directory = "", issuer = "", database = ""] = process.argv.slice(2);
const published: JSONWebKeySet = await (await fetch(`${issuer}/jwks`)).json();
const find = createLocalJWKSet(published);
const writer = openWriter(directory);
const writeSignIn = await openSignIns(database, issuer);

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    const { headers, body }: TokenRequest = await request.json();
    const startMs = performance.now();
    const answer = await fetch(`${issuer}/token`, { method: "POST", headers, body });
    const { id_token: token }: { id_token: string } = await answer.json();
    const waitedMs = performance.now() - startMs;
    await jwtVerify(token, find);
    await (new URL(request.url).pathname === ROWS_PATH ? writeSignIn() : writer.write(SIGN_IN_ROWS));
    return new Response(null, {
      status: 303,
      headers: { location: "/", [WAITED_HEADER]: String(waitedMs) },
    });
  },
});
console.log(server.url.origin);
