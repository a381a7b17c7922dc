// The minimum work of a proxy on this runtime, in a separate process: it identifies the sender from a database file
// that other processes write, opens the user's key, forwards the request with that key, and has a thread write one row.
// It has none of the product's limits, checks, errors, metrics or ends of streams. Arguments: the origin of the
// upstream, and a directory for its files.
import { Database } from "bun:sqlite";
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

const ROWS = 1_000;
/** rows of the log in one transaction, and how long they wait */
const BATCH_ROWS = 500;
const BATCH_MS = 200;
const NOT_SENT = new Set([
  "connection",
  "host",
  "cookie",
  "authorization",
  "accept-encoding",
  "content-length",
]);
const NOT_ANSWERED = new Set(["connection", "set-cookie", "server", "content-length", "transfer-encoding"]);
/** of all workstations, as in the benchmark of the service */
const USER = "01a22cd5-398c-739e-bc0b-000000000000";
const TABLES = ["sessions", "users", "logins", "keys"];

const idOf = (row: number): string => `01a22cd5-398c-739e-bc0b-${String(row % ROWS).padStart(12, "0")}`;

/** The secret of every user, sealed. */
function sealedKey() {
  const [secret, nonce] = [randomBytes(32), randomBytes(12)];
  const cipher = createCipheriv("aes-256-gcm", secret, nonce);
  const text = Buffer.concat([cipher.update("sk-0123456789abcdefghijklmnopqrstuv"), cipher.final()]);
  const tag = cipher.getAuthTag();
  return (): string => {
    const opener = createDecipheriv("aes-256-gcm", secret, nonce);
    opener.setAuthTag(tag);
    return opener.update(text).toString() + opener.final().toString();
  };
}

/** @returns the function that reads the four rows of a request, on a snapshot of the present turn */
function callers(file: string): (id: string) => unknown[] {
  const writer = new Database(file);
  writer.run("PRAGMA journal_mode = WAL");
  for (const table of TABLES) {
    writer.run(
      `CREATE TABLE ${table} (id TEXT PRIMARY KEY, a TEXT, b TEXT, c TEXT, d INTEGER, e INTEGER) STRICT`,
    );
    const add = writer.prepare(`INSERT INTO ${table} VALUES (?, ?, ?, ?, 1, 2)`);
    writer.transaction(() => {
      for (let row = 0; row < ROWS; row += 1) add.run(idOf(row), idOf(row), idOf(row), "x".repeat(100));
    })();
  }
  const reader = new Database(file, { readonly: true });
  const [begin, rollback] = [reader.prepare("BEGIN"), reader.prepare("ROLLBACK")];
  const foreignCommits = writer.prepare("PRAGMA data_version");
  const lookups = TABLES.map((table) => reader.prepare(`SELECT * FROM ${table} WHERE id = ? LIMIT 1`));
  let isReading = false;
  const endTurn = () => {
    rollback.run();
    isReading = false;
  };
  return (id) => {
    if (!isReading) {
      foreignCommits.get();
      begin.run();
      isReading = true;
      setImmediate(endTurn);
    }
    return lookups.map((lookup) => lookup.get(id));
  };
}

/** The thread: writes rows into a file with the indexes that its searches need. */
function writeRows(file: string): void {
  const log = new Database(file);
  log.run("PRAGMA journal_mode = WAL");
  log.run("PRAGMA synchronous = NORMAL");
  log.run(
    "CREATE TABLE rows (id TEXT PRIMARY KEY, at INTEGER, user TEXT, model TEXT, status INTEGER, more TEXT) STRICT",
  );
  for (const columns of ["at, id", "user, at, id", "model, at, id"])
    log.run(`CREATE INDEX by_${columns.slice(0, 2)} ON rows (${columns})`);
  const add = log.prepare("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?)");
  parentPort?.on("message", (text: string) => {
    const rows: string[][] = JSON.parse(text);
    log.transaction(() => {
      for (const row of rows) add.run(...row);
    })();
  });
}

/** @returns the function that hands one row to the thread */
function logTo(file: string): (row: (string | number)[]) => void {
  const thread = new Worker(new URL(import.meta.url), { workerData: file });
  let waiting: (string | number)[][] = [];
  const hand = () => {
    if (waiting.length > 0) thread.postMessage(JSON.stringify(waiting));
    waiting = [];
  };
  setInterval(hand, BATCH_MS);
  return (row) => {
    waiting.push(row);
    if (waiting.length >= BATCH_ROWS) hand();
  };
}

function without(given: Headers, dropped: ReadonlySet<string>): Record<string, string> {
  const headers: Record<string, string> = {};
  given.forEach((value, name) => {
    if (!dropped.has(name)) headers[name] = value;
  });
  return headers;
}

function serve([upstream = "", directory = ""]: readonly string[]): void {
  const rowsOf = callers(join(directory, "least-callers.db"));
  const openKey = sealedKey();
  const log = logTo(join(directory, "least-log.db"));
  const known = new Map<string, string>();
  /** the token's signature is checked once */
  const identify = (token: string): string => {
    const digest = createHash("sha256").update(token).digest("hex");
    const id = known.get(digest) ?? idOf(known.size);
    known.set(digest, id);
    return id;
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request, running) {
      const id = identify(request.headers.get("authorization") ?? "");
      rowsOf(id);
      running.timeout(request, 0);
      const ended = new AbortController();
      request.signal.addEventListener("abort", () => ended.abort());
      const { pathname, search } = new URL(request.url);
      const answer = await fetch(upstream + pathname + search, {
        method: request.method,
        headers: { ...without(request.headers, NOT_SENT), authorization: `Bearer ${openKey()}` },
        body: await request.arrayBuffer(),
        signal: ended.signal,
        redirect: "manual",
        decompress: false,
      });
      const reader = answer.body?.getReader();
      const { value } = (await reader?.read()) ?? {};
      const usage =
        Buffer.from(value ?? [])
          .toString("latin1")
          .split('"usage":')[1] ?? "";
      log([Bun.randomUUIDv7(), Date.now(), USER, "bench", answer.status, usage]);
      const headers = without(answer.headers, NOT_ANSWERED);
      return new Response(value ?? null, { status: answer.status, headers });
    },
  });
  console.log(server.url.origin);
}

if (isMainThread) serve(process.argv.slice(2));
else writeRows(workerData);
