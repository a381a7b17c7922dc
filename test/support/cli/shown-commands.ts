// The commands and requests that a page of the console shows, in the form in which they can be run.
import { runHere } from "../in-process.ts";
import type { TestServer } from "../server.ts";

const plain = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");

/** @returns the command lines of a page, without the name of the program, as a POSIX shell reads them */
export function commandsIn(html: string): string[][] {
  const lines = [...html.matchAll(/<pre>(quartermaster [^<]*)<\/pre>/g)].map(([, line = ""]) => plain(line));
  return lines.map((line) => {
    const { stdout } = Bun.spawnSync(["sh", "-c", `printf '%s\\0' ${line}`]);
    return stdout.toString().split("\0").slice(1, -1);
  });
}

interface ShownRequest {
  method: string;
  path: string;
  body?: Record<string, unknown>;
}

/** @returns the requests of a page */
export function requestsIn(html: string): ShownRequest[] {
  const found = html.matchAll(/<pre>(GET|POST|PUT|PATCH|DELETE) (\S+)(?:\s+(\{[^<]*))?<\/pre>/g);
  return [...found].map(([, method = "", path = "", body]) => ({
    method,
    path: plain(path),
    ...(body !== undefined && { body: JSON.parse(plain(body)) }),
  }));
}

/** Runs a command as an operator on the data directory of the server. */
export function runOn({ world }: Pick<TestServer, "world">, words: readonly string[]) {
  const { clock, ids, directory } = world;
  return runHere([...words, "--data-dir", directory], { cwd: directory, clock, ids });
}
