// The file of a Unix socket: its owner when a server starts, and when it stops.
import { afterAll, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Listener, listen, removeDeadSocket } from "../../../src/server/listener/listen.ts";
import { NO_PROXIES } from "../../support/network/listening-server.ts";
import { temporaryDirectory } from "../../support/world.ts";

let folder: string;
let path: string;
const listeners: Listener[] = [];

beforeEach(() => {
  folder = temporaryDirectory();
  path = join(folder, "q.sock");
});
afterAll(() => Promise.all(listeners.map((listener) => listener.stop())));

const report = (error: unknown) => expect(error).toBeUndefined();

async function start(text: string): Promise<Listener> {
  const where = { kind: "unix", path } as const;
  await removeDeadSocket(where);
  const listener = listen(() => new Response(text), { listen: where, ...NO_PROXIES, report });
  listeners.push(listener);
  return listener;
}

const answer = async () => await (await fetch("http://localhost/", { unix: path })).text();

test("a socket is created with its final mode under a single name and removed at a stop", async () => {
  const listener = await start("first");
  expect(statSync(path).mode & 0o777).toBe(0o660);
  expect(readdirSync(folder)).toEqual(["q.sock"]);
  await listener.stop();
  expect(readdirSync(folder)).toEqual([]);
});

test("refuses to start on the socket of a running program", async () => {
  await start("first");
  await expect(start("second")).rejects.toMatchObject({ reason: "listen.in_use" });
  expect(await answer()).toBe("first");
});

test("replaces a socket that no process listens on", async () => {
  const script = `Bun.serve({ unix: ${JSON.stringify(path)}, fetch: () => new Response() }); process.kill(process.pid, 9)`;
  await Bun.spawn([process.execPath, "-e", script]).exited;
  expect(existsSync(path)).toBe(true);
  await start("second");
  expect(await answer()).toBe("second");
});

test("refuses to start on a file that is not a socket, and keeps the file", async () => {
  writeFileSync(path, "notes");
  await expect(start("first")).rejects.toMatchObject({ reason: "listen.in_use" });
  expect(readdirSync(folder)).toEqual(["q.sock"]);
  expect(await Bun.file(path).text()).toBe("notes");
});

test("a stopping server leaves its successor's socket alone", async () => {
  const first = await start("first");
  rmSync(path);
  await start("second");
  await first.stop();
  expect(await answer()).toBe("second");
});
