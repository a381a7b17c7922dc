// An inference gateway for benchmarks of its keys, in a separate process. A delay replaces the real work of creating a
// key. `GET /bench/keys` lists all keys. Argument: the delay in milliseconds.
import { createKeyDesk } from "./key-desk.ts";

const [delayText = "0"] = process.argv.slice(2);
const desk = createKeyDesk(Number(delayText));

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) =>
    Response.json(new URL(request.url).pathname === "/bench/keys" ? desk.all() : await desk.answer(request)),
});
console.log(server.url.origin);
