// The reference for catalog.ts, in a separate process: Bun.serve that sends the bytes of a file, or 304, without any checks.
// Arguments: the file, its content type, its entity tag.
export {}; // makes it a module, for top-level await

const [file = "", contentType = "", etag = ""] = process.argv.slice(2);
const bytes = await Bun.file(file).bytes();

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) =>
    request.headers.get("if-none-match") === etag
      ? new Response(null, { status: 304, headers: { etag } })
      : new Response(bytes, { headers: { "content-type": contentType, etag } }),
});
console.log(server.url.origin);
