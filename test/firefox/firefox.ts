// Firefox without a screen, over its own protocol (WebDriver BiDi): playwright-core requires its own Firefox, which is not on npm.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isJsonObject } from "../../src/platform/json/json-object.ts";

const PATIENCE_MS = 20_000;
const CHECK_EVERY_MS = 50;
/** Records violations of the content security policy. */
const LISTEN = `() => {
  globalThis.violations = [];
  addEventListener("securitypolicyviolation", (event) =>
    globalThis.violations.push(event.violatedDirective + " " + event.blockedURI));
}`;

export interface Firefox extends AsyncDisposable {
  /** Opens an address and waits until it is loaded. */
  open(url: string): Promise<void>;
  /** @param expression with a value that JSON can represent @returns the value; of a promise, its result */
  evaluate(expression: string): Promise<unknown>;
  /** Waits until the expression is true, also after a navigation. */
  until(expression: string): Promise<void>;
  /** Presses the element of the selector. */
  press(selector: string): Promise<void>;
  /** @returns script errors and policy violations since the last call */
  takeComplaints(): Promise<string[]>;
}

/** @param program path of Firefox */
export async function openFirefox(program: string): Promise<Firefox> {
  await using started = new AsyncDisposableStack();
  const profile = started.adopt(mkdtempSync(join(tmpdir(), "quartermaster-firefox-")), (folder) =>
    rmSync(folder, { recursive: true, force: true }),
  );
  const child = started.adopt(spawn(program, profile), async (firefox) => {
    firefox.kill();
    await firefox.exited;
  });
  const errors: string[] = [];
  const ask = await connect(`${await addressOf(child.stderr)}/session`, errors);
  await ask("session.new", { capabilities: {} });
  await ask("session.subscribe", { events: ["log.entryAdded"] });
  const { contexts } = await ask("browsingContext.getTree", {});
  const [first] = Array.isArray(contexts) ? contexts : [];
  const { context } = Object(first);
  await ask("script.addPreloadScript", { functionDeclaration: LISTEN });

  const evaluate = async (expression: string): Promise<unknown> => {
    const request = { expression: `Promise.resolve(${expression}).then((value) => JSON.stringify(value))` };
    const response = await ask("script.evaluate", { ...request, target: { context }, awaitPromise: true });
    const { type, result, exceptionDetails } = response;
    if (type !== "success")
      throw new Error(`${expression.slice(0, 200)}: ${JSON.stringify(exceptionDetails)}`);
    const { value } = Object(result);
    return typeof value === "string" ? JSON.parse(value) : undefined;
  };
  const until = async (expression: string): Promise<void> => {
    const end = performance.now() + PATIENCE_MS;
    // An evaluation fails while the page is replaced.
    while ((await evaluate(expression).catch(() => false)) !== true) {
      if (performance.now() > end) throw new Error(`never: ${expression}`);
      await Bun.sleep(CHECK_EVERY_MS);
    }
  };
  const ending = started.move();
  return {
    evaluate,
    until,
    open: async (url) => void (await ask("browsingContext.navigate", { context, url, wait: "complete" })),
    async press(selector) {
      await until(`document.querySelector(${JSON.stringify(selector)}) !== null`);
      await evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
    },
    async takeComplaints() {
      const violations = await evaluate("globalThis.violations.splice(0)");
      return [...errors.splice(0), ...(Array.isArray(violations) ? violations.map(String) : [])];
    },
    [Symbol.asyncDispose]: () => ending.disposeAsync(),
  };
}

const spawn = (program: string, profile: string) =>
  Bun.spawn([program, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port=0"], {
    env: { HOME: profile, PATH: process.env.PATH ?? "" },
    stdout: "ignore",
    stderr: "pipe",
  });

/** @returns the address that Firefox prints when it is ready; continues to read, because a full pipe would block Firefox */
function addressOf(output: ReadableStream<Uint8Array>): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const read = async () => {
    let text = "";
    for await (const chunk of output) {
      text += new TextDecoder().decode(chunk);
      const [, address] = /WebDriver BiDi listening on (ws:\S+)/.exec(text) ?? [];
      if (address !== undefined) resolve(address);
    }
    reject(new Error(`Firefox did not start:\n${text}`));
  };
  void read();
  return promise;
}

type Ask = (method: string, params: object) => Promise<Record<string, unknown>>;

/** @param errors receives errors of scripts */
async function connect(address: string, errors: string[]): Promise<Ask> {
  const socket = new WebSocket(address);
  const waiting = new Map<number, (response: Record<string, unknown>) => void>();
  socket.addEventListener("message", ({ data }) => {
    const message: unknown = JSON.parse(String(data));
    if (!isJsonObject(message)) return;
    if (typeof message.id === "number") return waiting.get(message.id)?.(message);
    const { level, text } = Object(message.params);
    if (level === "error") errors.push(String(text));
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  let last = 0;
  return async (method, params) => {
    last += 1;
    const id = last;
    const { promise, resolve } = Promise.withResolvers<Record<string, unknown>>();
    waiting.set(id, resolve);
    socket.send(JSON.stringify({ id, method, params }));
    const { type, result, error, message } = await promise;
    waiting.delete(id);
    if (type !== "success" || !isJsonObject(result)) throw new Error(`${method}: ${error}: ${message}`);
    return result;
  };
}
