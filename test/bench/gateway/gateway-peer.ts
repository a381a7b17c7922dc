// An inference gateway for benchmarks of its keys, a process of its own, with a delay that stands for the work of making one.
// `GET /bench/keys` tells every key there is. Argument: milliseconds that making a key takes.
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
