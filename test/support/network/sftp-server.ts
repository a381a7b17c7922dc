// An SFTP server (version 3 of the protocol) for the files of one folder, with one user key. Paths of clients are below that folder.

import type { EventEmitter } from "node:events";
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, join } from "node:path";
import { type Attributes, type ConnectedClient, type ServedFiles, Server, utils } from "ssh2";
import { type Config, loadConfig } from "../../../src/platform/config/config.ts";
import { codeOf } from "../../../src/platform/errors.ts";
import { freePort } from "./free-port.ts";

const STATUS = { ok: 0, endOfFile: 1, noSuchFile: 2, failure: 4 };

export interface SftpServer extends AsyncDisposable {
  port: number;
  /** of the user, in the format of OpenSSH */
  privateKey: string;
  /** of the server, as in `known_hosts` */
  hostKey: string;
}

interface Attempt {
  method: string;
  key?: { data: Buffer };
  accept(): void;
  reject(): void;
}

/** The library verifies no signature, and neither does this server: it only compares keys. */
function admit(attempt: Attempt, publicKey: string): void {
  const known = Buffer.from(publicKey.split(" ")[1] ?? "", "base64");
  if (attempt.method === "publickey" && attempt.key?.data.equals(known)) attempt.accept();
  else attempt.reject();
}

/** @returns a pair that OpenSSH can read; one private key in 200 from the library is malformed */
export function sshKeyPair(): { private: string; public: string } {
  for (;;) {
    const pair = utils.generateKeyPairSync("ed25519");
    if (!(utils.parseKey(pair.private) instanceof Error)) return pair;
  }
}

/** @param root folder that clients see as `/` */
export async function startSftpServer(root: string): Promise<SftpServer> {
  const [host, user] = [sshKeyPair(), sshKeyPair()];
  const port = freePort();
  const clients = new Set<ConnectedClient>();
  const server = new Server({ hostKeys: [host.private] }, (client) => {
    clients.add(client);
    client.on("error", () => {}).on("close", () => clients.delete(client));
    client.on("authentication", (attempt: Attempt) => admit(attempt, user.public));
    client.on("session", (accept: () => EventEmitter) =>
      accept().on("sftp", (open: () => ServedFiles) => serve(open(), root)),
    );
  });
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", () => listening()));
  return {
    port,
    privateKey: user.private,
    hostKey: host.public,
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.end();
      await new Promise<void>((closed) => server.close(() => closed()));
    },
  };
}

function serve(files: ServedFiles, root: string): void {
  const opened = new Map<number, number | string[]>();
  let next = 0;
  const keep = (request: number, what: number | string[]) => {
    opened.set(next, what);
    files.handle(request, Buffer.from(String(next++)));
  };
  const found = (handle: Buffer) => opened.get(Number(handle.toString()));
  const descriptor = (handle: Buffer) => Number(found(handle));
  const answering =
    <Rest extends unknown[]>(response: (request: number, ...rest: Rest) => void) =>
    (request: number, ...rest: Rest) => {
      try {
        response(request, ...rest);
      } catch (error) {
        files.status(request, codeOf(error) === "ENOENT" ? STATUS.noSuchFile : STATUS.failure);
      }
    };
  const on = <Rest extends unknown[]>(event: string, response: (request: number, ...rest: Rest) => void) =>
    files.on(event, answering(response));
  const stat = (request: number, path: string) => files.attrs(request, attributesOf(join(root, path)));
  on("OPEN", (request, path: string, mode: number) =>
    keep(request, openSync(join(root, path), flagsOf(mode))),
  );
  on("READ", (request, handle: Buffer, offset: number, length: number) => {
    const bytes = Buffer.alloc(length);
    const read = readSync(descriptor(handle), bytes, 0, length, offset);
    if (read === 0) files.status(request, STATUS.endOfFile);
    else files.data(request, bytes.subarray(0, read));
  });
  on("WRITE", (request, handle: Buffer, offset: number, bytes: Buffer) => {
    writeSync(descriptor(handle), bytes, 0, bytes.length, offset);
    files.status(request, STATUS.ok);
  });
  on("OPENDIR", (request, path: string) =>
    keep(
      request,
      readdirSync(join(root, path)).map((name) => join(root, path, name)),
    ),
  );
  on("READDIR", (request, handle: Buffer) => {
    const paths = found(handle);
    const entries = Array.isArray(paths) ? paths.splice(0) : [];
    if (entries.length === 0) files.status(request, STATUS.endOfFile);
    else files.name(request, entries.map(entryOf));
  });
  on("CLOSE", (request, handle: Buffer) => {
    const what = found(handle);
    if (typeof what === "number") closeSync(what);
    files.status(request, STATUS.ok);
  });
  on("MKDIR", (request, path: string) => {
    mkdirSync(join(root, path));
    files.status(request, STATUS.ok);
  });
  on("STAT", stat);
  on("LSTAT", stat);
}

const entryOf = (path: string) => ({ filename: basename(path), longname: path, attrs: attributesOf(path) });

function attributesOf(path: string): Attributes {
  const { mode, uid, gid, size, atimeMs, mtimeMs } = statSync(path);
  return { mode, uid, gid, size, atime: Math.floor(atimeMs / 1000), mtime: Math.floor(mtimeMs / 1000) };
}

/** The flags that this product uses. */
function flagsOf(mode: number): string {
  const { WRITE, EXCL } = utils.sftp.OPEN_MODE;
  if ((mode & WRITE) === 0) return "r";
  return (mode & EXCL) === 0 ? "w" : "wx";
}

/** @returns settings for a replica at that path of the server; its keys are written into the folder */
export function sftpConfig(folder: string, { port, privateKey, hostKey }: SftpServer, path: string): Config {
  const key = join(folder, `key-${Bun.hash(privateKey)}`);
  writeFileSync(key, privateKey, { mode: 0o600 });
  const flags = {
    databaseReplicated: "yes",
    standbyReplica: `sftp://qm@127.0.0.1:${port}${path}`,
    standbySftpKeyFile: key,
    standbySftpHostKey: hostKey,
  };
  return loadConfig({ flags, env: {}, cwd: folder });
}
