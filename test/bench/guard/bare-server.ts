// The reference for catalog.ts and governance.ts, in a separate process: Bun.serve that sends the bytes of a file, or
// 304, without any checks. Arguments: the file, its content type, its entity tag. With the argument `tokens` it also
// does the minimum work of a server that caches verified tokens without storing them: it looks up the keyed digest of
// each token in a table. It believes a new token.
import { CompactTable } from "../../../src/domain/access/authentication/compact-table.ts";
import { createKeyedDigest, DIGEST_WORDS } from "../../../src/platform/crypto/keyed-digest.ts";

const [file = "", contentType = "", etag = "", mode] = process.argv.slice(2);
const bytes = await Bun.file(file).bytes();

const OWN_WORDS = 6; // as many as the row of a token has in the product
const BYTES_MAX = 64 * 1024 * 1024;
const LATER_SECONDS = 3_600;

function createLookUp(): (request: Request) => void {
  const digestOf = createKeyedDigest();
  const digest = new Uint32Array(DIGEST_WORDS);
  const row = new Uint32Array(OWN_WORDS);
  const table = new CompactTable({ ownWords: OWN_WORDS, bytesMax: BYTES_MAX });
  return ({ headers }) => {
    digestOf(headers.get("authorization") ?? "", digest);
    if (table.find(digest)) return;
    const now = Math.floor(Date.now() / 1_000);
    table.put(digest, row, { expiry: now + LATER_SECONDS, now });
  };
}

const lookUp = mode === "tokens" ? createLookUp() : () => {};

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request) {
    lookUp(request);
    return request.headers.get("if-none-match") === etag
      ? new Response(null, { status: 304, headers: { etag } })
      : new Response(bytes, { headers: { "content-type": contentType, etag } });
  },
});
console.log(server.url.origin);
