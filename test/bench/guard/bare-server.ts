// The reference for catalog.ts, a process of its own: Bun.serve that sends the bytes of a file, or 304, and checks nothing.
// Arguments: the file, its content type, its entity tag.
export {}; // a module, so that it may wait

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
