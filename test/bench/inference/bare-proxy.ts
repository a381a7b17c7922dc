// The limit of this runtime as a proxy, in a separate process: it forwards every request to the upstream and the response back,
// without checks, counts or writes. Argument: the origin of the upstream.
export {}; // makes it a module, for top-level await

const [upstream = ""] = process.argv.slice(2);

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    const answer = await fetch(upstream + pathname + search, {
      method: request.method,
      headers: request.headers,
      body: request.body,
      signal: request.signal,
      redirect: "manual",
      decompress: false,
    });
    return new Response(answer.body, answer);
  },
});
console.log(server.url.origin);
