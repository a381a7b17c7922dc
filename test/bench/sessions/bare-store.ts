// The work of an upload on a bare server of this runtime: hash, write, sync and rename. A download is a file; a POST is
// one durable write, or the same rows as those of an announcement or a completion. Arguments: its folder, and the
// database of an installation.
import { mkdirSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import { openWriter } from "../writes.ts";
import { openRows } from "./bare-rows.ts";

const [folder = "", database = ""] = process.argv.slice(2);
const stored = join(folder, "stored");
mkdirSync(stored, { recursive: true });
const writer = openWriter(folder);
const rows = openRows(database);
/** of POST, by path */
const WRITES: Readonly<Record<string, () => Promise<void>>> = {
  "/": () => writer.write(),
  "/announcement": rows.announce,
  "/completion": rows.complete,
};

async function store(request: Request): Promise<Response> {
  const temporary = join(folder, crypto.randomUUID());
  const hasher = new Bun.CryptoHasher("sha256");
  {
    await using file = await open(temporary, "wx", 0o600);
    for await (const chunk of request.body ?? []) {
      hasher.update(chunk);
      await file.write(chunk);
    }
    await file.sync();
  }
  await rename(temporary, join(stored, hasher.digest("hex")));
  await using names = await open(stored, "r");
  await names.sync();
  return new Response(null, { status: 204 });
}

async function write(request: Request): Promise<Response> {
  await request.json();
  const { pathname } = new URL(request.url);
  await WRITES[pathname]?.();
  return Response.json({ id: "one", status: "complete" });
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  fetch(request) {
    if (request.method === "PUT") return store(request);
    if (request.method === "POST") return write(request);
    return new Response(Bun.file(join(stored, new URL(request.url).pathname.slice(1))));
  },
});
console.log(server.url.origin);
