// The service under systemd, as one real process: the notify socket, the journal, SIGHUP and SIGTERM.
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { generate } from "selfsigned";
import { productCommand, SHORT_LIVED } from "../../../support/cli/executable.ts";
import { type NotifyReceiver, receiveNotifications } from "../../../support/network/notify-receiver.ts";
import { temporaryDirectory } from "../../../support/world.ts";

const directory = temporaryDirectory();
const file = (name: string): string => join(directory, name);
const [DATA, SETTINGS, JOURNAL] = [file("data"), file("settings.yaml"), file("journal")];
const [CERTIFICATE, KEY] = [file("cert.pem"), file("key.pem")];

const CHECK_EVERY_MS = 10;

let receiver: NotifyReceiver;
let child: Bun.Subprocess;
let firstWords: Record<string, string>;

beforeAll(async () => {
  await certify("first");
  configure({ level: "info", lifetime: 600 });
  receiver = receiveNotifications(`@quartermaster-test-${process.pid}`);
  const journal = openSync(JOURNAL, "w", 0o600);
  const { dev, ino } = statSync(JOURNAL, { bigint: true });
  child = Bun.spawn([...productCommand(), "serve", "--config", SETTINGS], {
    env: {
      ...SHORT_LIVED,
      NOTIFY_SOCKET: receiver.address,
      WATCHDOG_USEC: "2000000",
      JOURNAL_STREAM: `${dev}:${ino}`,
      STATE_DIRECTORY: DATA,
      QUARTERMASTER_SCIM_TOKEN: "a-token-of-32-characters-at-least",
    },
    stdout: journal,
    stderr: journal,
  });
  closeSync(journal);
  firstWords = await receiver.next("READY");
  while (logged("service.started").length === 0) await Bun.sleep(CHECK_EVERY_MS); // readiness is reported before it is logged
});
afterAll(async () => {
  child.kill("SIGKILL");
  await child.exited;
  receiver[Symbol.dispose]();
  rmSync(directory, { recursive: true });
});

async function certify(name: string): Promise<void> {
  const pair = await generate([{ name: "commonName", value: name }], { keyType: "ec" });
  writeFileSync(CERTIFICATE, pair.cert);
  writeFileSync(KEY, pair.private, { mode: 0o600 });
}

const configure = ({ level, lifetime }: { level: string; lifetime: number }) =>
  writeFileSync(
    SETTINGS,
    `server: { listen: "127.0.0.1:0", tls_cert: ${CERTIFICATE}, tls_key: ${KEY} }
log: { level: ${level} }
access: { device_code_ttl_seconds: ${lifetime} }
`,
    { mode: 0o600 },
  );

const journal = (): string => readFileSync(JOURNAL, "utf8");

/** @returns the log lines of an event, oldest first, as the journal receives them */
const logged = (event: string): Record<string, unknown>[] =>
  [...journal().matchAll(/^<\d>(\{.*\})$/gm)]
    .map(([, line = "{}"]) => JSON.parse(line))
    .filter((line) => line.event === event);

const address = (): URL => new URL(String(logged("service.started")[0]?.address));

/** @returns the name in the certificate of a new connection */
const presented = (): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const { hostname: host, port } = address();
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().subject.CN);
      socket.end();
    });
    socket.on("error", reject);
  });

async function reload(): Promise<void> {
  child.kill("SIGHUP");
  await receiver.next("RELOADING");
  await receiver.next("READY");
}

test("SVC-2: reports readiness with a status line, and then answers requests", async () => {
  expect(firstWords.STATUS).toMatch(/^version \S+, schema \d+, policy revision 1, 0 clients$/);
  const ready = await fetch(new URL("/ready", address()), { tls: { rejectUnauthorized: false } });
  expect(await ready.text()).toBe("ready");
});

test("SVC-3: sends keep-alives to the watchdog", async () => {
  expect(await receiver.next("WATCHDOG")).toMatchObject({ WATCHDOG: "1" });
});

test("SVC-8: every line in the journal has a priority, including warnings before the log starts", () => {
  for (const line of journal().trimEnd().split("\n")) expect(line).toMatch(/^<[3467]>\S/);
  expect(journal()).toMatch(/^<4>warning: QUARTERMASTER_SCIM_TOKEN passes a secret in the environment/);
});

test("SVC-6: keeps all files in the data directory, readable only by the owner, and the generated password in a file", () => {
  expect(readdirSync(directory).toSorted()).toEqual([
    "cert.pem",
    "data",
    "journal",
    "key.pem",
    "settings.yaml",
  ]);
  for (const name of ["", ...readdirSync(DATA, { recursive: true, encoding: "utf8" })]) {
    const status = statSync(join(DATA, name));
    expect([name, status.mode & 0o077]).toEqual([name, 0]);
  }
  const password = readFileSync(join(DATA, "initial-admin-password"), "utf8").trim();
  expect(password.length).toBeGreaterThanOrEqual(24);
  expect(journal()).not.toContain(password);
});

test("SVC-9: SIGHUP loads another certificate for new connections", async () => {
  expect(await presented()).toBe("first");
  await certify("second");
  await reload();
  expect(await presented()).toBe("second");
  expect(logged("tls.renewed")).toMatchObject([{ cert: CERTIFICATE, key: KEY }]);
});

test("SVC-9: rejects a certificate of another key with the reason, and keeps the current one", async () => {
  const key = readFileSync(KEY);
  await certify("third");
  writeFileSync(KEY, key);
  await reload();
  expect(await presented()).toBe("second");
  expect(logged("tls.rejected")).toMatchObject([{ level: "error", reason: "listen.bad_certificate" }]);
});

test("SVC-4: SIGHUP applies another log level, and names the settings that need a restart", async () => {
  const ask = () => fetch(new URL("/login", address()), { tls: { rejectUnauthorized: false } });
  await ask();
  configure({ level: "debug", lifetime: 700 });
  await reload();
  expect(logged("http.answered")).toEqual([]);
  expect(logged("config.restart_required").at(-1)).toMatchObject({
    level: "warning",
    settings: ["access.device_code_ttl_seconds"],
  });
  await ask();
  await reload(); // the line is written before this ends
  expect(logged("http.answered")).toMatchObject([{ route: "/login" }]);
});

test("SVC-4: names invalid settings and keeps the current ones", async () => {
  writeFileSync(SETTINGS, "log: { level: loud }\n");
  await reload();
  expect(logged("config.problem").at(-1)).toMatchObject({ line: 1 });
  expect(await presented()).toBe("second");
});

test("SVC-4: SIGTERM reports stopping to systemd, and exits with 0", async () => {
  child.kill("SIGTERM");
  expect(await receiver.next("STOPPING")).toMatchObject({ STOPPING: "1" });
  expect(await child.exited).toBe(0);
  expect(existsSync(join(DATA, "server.lock.holder"))).toBe(false);
});
