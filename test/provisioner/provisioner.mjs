#!/usr/bin/env node
// An executable provisioner, protocol version 1, in one file that needs nothing but Node: it reads one request from standard
// input, prints one answer, and ends with 0 for a success or 1 for an error. Its gateway is a folder: replace `gateway` by
// calls of your gateway's admin API and drop `trouble`, which is for tests. README.md says what matters and why.
import { spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const { PROVISIONER_DIRECTORY, PROVISIONER_TROUBLE, PROVISIONER_LIFETIME_SECONDS } = process.env;

/** An answer that is not a key; Quartermaster acts on the code, and the message is for its log. */
class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

const folder = (name) => join(PROVISIONER_DIRECTORY, name);
const keyFile = (externalId) => join(folder("keys"), encodeURIComponent(externalId));

const gateway = {
  hasAccount: (email) => readdirSync(folder("accounts")).includes(encodeURIComponent(email.toLowerCase())),
  keys: () => readdirSync(folder("keys")).flatMap((name) => readJson(join(folder("keys"), name)) ?? []),
  findKey: (externalId) => readJson(keyFile(externalId)),
  /** Whole or not at all, so that a call that is cut short leaves no half of a key. */
  saveKey(key) {
    const partial = join(folder("partial"), `${process.pid}`);
    writeFileSync(partial, JSON.stringify(key));
    renameSync(partial, keyFile(key.external_id));
  },
  /** each has an `id`, and may have a `display_name` and `metadata` */
  models: () => readJson(folder("models.json")) ?? [],
  removeKey: (externalId) => rmSync(keyFile(externalId), { force: true }),
};

function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

const operations = { ensure, revoke, list_models };

function ensure({ identity, reason, previous }) {
  if (!gateway.hasAccount(identity.email)) {
    throw new Refusal("account_missing", "the gateway has no such account");
  }
  return previous ? keep(identity, previous) : make(identity, reason);
}

/** Nobody has the credential of what an earlier call made before it was cut short. */
function removeLeftBehind(identity, isKept = () => false) {
  for (const key of gateway.keys())
    if (key.user_id === identity.id && !isKept(key)) gateway.removeKey(key.external_id);
}

/** The key is fine: no credential in the answer, so Quartermaster keeps the one it has. */
function keep(identity, previous) {
  const key = gateway.findKey(previous.external_id);
  if (!key || key.blocked) throw new Refusal("credential_invalid", "the key is gone or blocked");
  gateway.saveKey({ ...key, groups: identity.groups });
  removeLeftBehind(identity, ({ external_id }) => external_id === key.external_id);
  return { external_id: key.external_id, alias: key.alias, metadata: previous.metadata };
}

/** A key is replaced while it is healthy: it stays in use until Quartermaster has stored the new one, and asks to revoke it. */
const isRotation = (reason) => reason === "reconciliation_due" || reason === "configuration_changed";

function make(identity, reason) {
  if (!isRotation(reason)) removeLeftBehind(identity);
  const credential = `sk-${randomBytes(24).toString("base64url")}`;
  const external_id = createHash("sha256").update(credential).digest("hex");
  const email = identity.email.toLowerCase();
  const alias = `quartermaster:${email}-${external_id.slice(0, 8)}`;
  gateway.saveKey({ external_id, alias, email, user_id: identity.id, groups: identity.groups });
  const expires_at = PROVISIONER_LIFETIME_SECONDS
    ? new Date(Date.now() + Number(PROVISIONER_LIFETIME_SECONDS) * 1000).toISOString()
    : null;
  return { credential, external_id, alias, metadata: { groups: identity.groups }, expires_at };
}

/** A key that is gone already is a success, so that it may be asked for again. */
function revoke({ external_id }) {
  gateway.removeKey(external_id);
  return { revoked: true };
}

/** What workstations may be given: the ids are compared as they are, so they must not change their spelling. */
function list_models() {
  return { models: gateway.models() };
}

/** Each gets what follows its name, and the result where there is one. */
const troubles = {
  fail: (code) => {
    throw new Refusal(code, "it was told to fail");
  },
  slow: (ms) => new Promise((resolve) => setTimeout(resolve, Number(ms))),
  hang: () => new Promise(() => setInterval(() => {}, 60_000)),
  die: () => process.kill(process.pid, "SIGKILL"),
  exit: (code) => process.exit(Number(code)),
  garbage: () => process.stdout.write("certainly! here is your key: "),
  flood: () => process.stdout.write("x".repeat(2 * 1024 * 1024)),
  noise: () => process.stderr.write("sk-in-a-log\n".repeat(100_000)),
  child: () => leave("600", { detached: false }),
  daemon: () => leave("5", { detached: true }),
  member: (name, result) => Object.assign(result, { [name]: " " }),
};

/** A process that outlives this one and holds its output open; detached it has a process group of its own. */
const leave = (seconds, { detached }) =>
  spawn("sleep", [seconds], { stdio: ["ignore", "inherit", "inherit"], detached }).unref();

/** `before:hang`, `after:die`, `before:fail:conflict`: when, what, how; from the environment, or a file that may come and go. */
async function trouble(moment, result) {
  const told = PROVISIONER_TROUBLE ?? readTrouble();
  const [when, what, how] = told.trim().split(":");
  if (when === moment) await troubles[what](how, result);
}

function readTrouble() {
  try {
    return readFileSync(folder("trouble"), "utf8");
  } catch {
    return "";
  }
}

async function main() {
  const { protocol_version, operation, request } = JSON.parse(readFileSync(0, "utf8"));
  if (protocol_version !== 1)
    throw new Refusal("rejected", `protocol version ${protocol_version} is not known`);
  if (!Object.hasOwn(operations, operation)) throw new Refusal("unsupported", `there is no ${operation}`);
  for (const name of ["accounts", "keys", "partial"]) mkdirSync(folder(name), { recursive: true });
  await trouble("before");
  const result = operations[operation](request);
  await trouble("after", result);
  return result;
}

function answer(body, exitCode) {
  process.exitCode = exitCode; // not exit(): what was printed may still be on its way
  process.stdout.write(JSON.stringify({ protocol_version: 1, ...body }));
}

try {
  answer({ status: "success", result: await main() }, 0);
} catch (error) {
  const { code, message } =
    error instanceof Refusal ? error : { code: "unavailable", message: String(error) };
  answer({ status: "error", error: { code, message } }, 1);
}
