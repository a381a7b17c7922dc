// The reference for tokens.ts, in a separate process: the cost of verifying the signature of an access token with node:crypto,
// which every server must pay. Arguments: a data directory, and a file with tokens. Prints µs of processor time.
import { createPublicKey, verify } from "node:crypto";
import { decodeProtectedHeader } from "jose";
import { openBeside } from "../tools/installation.ts";

const TOKENS = 20_000;
const TOKEN_BYTES = 1_024;

const [directory = "", file = ""] = process.argv.slice(2);
const installation = await openBeside(directory, 0);
const tokens = (
  await Bun.file(file)
    .slice(0, TOKENS * TOKEN_BYTES)
    .text()
)
  .split("\n")
  .slice(0, -1);
const { kid = "" } = decodeProtectedHeader(tokens[0] ?? "");
const jwk = installation.domain.access.keys.find(kid);
if (!jwk) throw new Error("no key of this directory signed the tokens");
const key = createPublicKey({ key: jwk, format: "jwk" });

const before = process.cpuUsage();
for (const token of tokens) {
  const at = token.lastIndexOf(".");
  const signature = Buffer.from(token.slice(at + 1), "base64url");
  if (!verify(null, Buffer.from(token.slice(0, at)), key, signature)) throw new Error("a signature is wrong");
}
const { user, system } = process.cpuUsage(before);
console.log((user + system) / tokens.length);
await installation.close();
