// Files of a peer over SFTP, such as the replica of a second machine. Each use has a separate connection. The host key
// authenticates the peer; nothing else of it is trusted.
import { Client, type SFTPWrapper } from "ssh2";

export interface SftpLogin {
  user: string;
  /** content of the key file, without a passphrase */
  privateKey: string;
  /** host key of the peer, as in `known_hosts`: `ssh-ed25519 AAAA…` */
  hostKey: string;
}

export interface RemoteEntry {
  name: string;
  isFolder: boolean;
  /** UTC milliseconds, in whole seconds */
  modifiedAtMs: number;
}

/** Paths are absolute. Every method throws the error of the connection. */
export interface RemoteFiles {
  /** @returns nothing for a missing folder */
  list(folder: string): Promise<readonly RemoteEntry[]>;
  /** @returns the first REMOTE_TEXT_BYTES_MAX bytes; undefined for a missing file */
  read(file: string): Promise<string | undefined>;
  /** Creates missing folders too. @returns false if the file exists */
  create(file: string, text: string): Promise<boolean>;
  /** Not atomic: a reader may see part of the new text. */
  replace(file: string, text: string): Promise<void>;
}

/** Only small records are read. */
export const REMOTE_TEXT_BYTES_MAX = 65_536;
const ENTRY_TYPE = 0o170000;
const FOLDER = 0o040000;
/** Status codes of SFTP. */
const NO_SUCH_FILE = 2;

interface Peer extends SftpLogin {
  host: string;
  port: number;
  signal: AbortSignal;
}

/** @throws the error of the connection; the reason of the signal */
export async function overSftp<T>(peer: Peer, work: (files: RemoteFiles) => Promise<T>): Promise<T> {
  const { signal } = peer;
  signal.throwIfAborted();
  const client = new Client();
  const ended = Promise.withResolvers<never>();
  const stop = () => ended.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  client
    .on("error", ended.reject)
    .on("close", () => ended.reject(new Error("the peer closed the connection")));
  try {
    return await Promise.race([ended.promise, opened(client, peer).then((sftp) => work(filesOf(sftp)))]);
  } finally {
    signal.removeEventListener("abort", stop);
    client.destroy();
  }
}

function opened(client: Client, { host, port, user, privateKey, hostKey }: Peer): Promise<SFTPWrapper> {
  const [type = "", wanted = ""] = hostKey.trim().split(/\s+/);
  return new Promise((resolve, reject) => {
    client.on("ready", () => client.sftp((error, sftp) => (error ? reject(error) : resolve(sftp))));
    client.connect({
      host,
      port,
      username: user,
      privateKey,
      algorithms: { serverHostKey: signaturesOf(type) },
      hostVerifier: (key: Buffer) => key.equals(Buffer.from(wanted, "base64")),
    });
  });
}

/** The algorithms for a host key of this type, which may sign in several ways. */
const signaturesOf = (type: string) =>
  type === "ssh-rsa" ? (["rsa-sha2-512", "rsa-sha2-256"] as const) : [type];

function filesOf(sftp: SFTPWrapper): RemoteFiles {
  const open = (file: string, flags: "r" | "w" | "wx") =>
    promised<Buffer>((callback) => sftp.open(file, flags, { mode: 0o600 }, callback));
  const write = async (handle: Buffer, text: string) => {
    const bytes = Buffer.from(text);
    await done((callback) => sftp.write(handle, bytes, 0, bytes.length, 0, callback));
    await done((callback) => sftp.close(handle, callback));
  };
  const exists = async (path: string) =>
    (await unlessMissing(promised<object>((callback) => sftp.stat(path, callback)))) !== undefined;
  const makeFolder = async (folder: string): Promise<void> => {
    if (folder === "" || (await exists(folder))) return;
    await makeFolder(folder.slice(0, folder.lastIndexOf("/")));
    await done((callback) => sftp.mkdir(folder, { mode: 0o700 }, callback));
  };
  return {
    async list(folder) {
      const found = await unlessMissing(promised<Listed[]>((callback) => sftp.readdir(folder, callback)));
      return (found ?? []).map(({ filename: name, attrs }) => ({
        name,
        isFolder: (attrs.mode & ENTRY_TYPE) === FOLDER,
        modifiedAtMs: attrs.mtime * 1000,
      }));
    },
    async read(file) {
      const handle = await unlessMissing(open(file, "r"));
      if (!handle) return undefined;
      const bytes = Buffer.alloc(REMOTE_TEXT_BYTES_MAX);
      const length = await promised<number>((callback) =>
        sftp.read(handle, bytes, 0, bytes.length, 0, (error, read) => callback(error, read)),
      );
      await done((callback) => sftp.close(handle, callback));
      return bytes.toString("utf8", 0, length);
    },
    async create(file, text) {
      await makeFolder(file.slice(0, file.lastIndexOf("/")));
      const handle = await open(file, "wx").catch(async (error: unknown) => {
        if (await exists(file)) return undefined; // SFTP has no specific status for that
        throw error;
      });
      if (handle) await write(handle, text);
      return handle !== undefined;
    },
    replace: async (file, text) => write(await open(file, "w"), text),
  };
}

type Listed = { filename: string; attrs: { mode: number; mtime: number } };
type Failure = Error | null | undefined;

const promised = <T>(question: (callback: (error: Failure, result: T) => void) => void): Promise<T> =>
  new Promise((resolve, reject) => question((error, result) => (error ? reject(error) : resolve(result))));

const done = (request: (callback: (error: Failure) => void) => void): Promise<void> =>
  new Promise((resolve, reject) => request((error) => (error ? reject(error) : resolve())));

/** @returns undefined if the peer reports that there is no such file */
async function unlessMissing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === NO_SUCH_FILE) return undefined;
    throw error;
  }
}
