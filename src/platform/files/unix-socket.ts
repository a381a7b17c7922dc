// The file of a Unix socket. It is created under another name and linked into place with its final mode, never over the socket
// of a live program, and removed at the end only if it is still ours. listen.ts serves on it.
import { chmodSync, linkSync, lstatSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { codeOf } from "../errors.ts";

const SOCKET_MODE = 0o660;
/** The mask that makes a new socket accessible to its owner only. */
const OWNER_ONLY_MASK = 0o177;

/**
 * Removes a socket without a listener, which a killed process leaves behind. Everything else stays.
 * @param path of the socket, which may be absent
 * @returns whether a program listens there
 */
export async function clearStaleSocket(path: string): Promise<boolean> {
  const found = identityOf(path);
  if (!found?.isSocket) return false;
  const outcome = await connectTo(path);
  if (outcome === "ECONNREFUSED" && isSame(found, identityOf(path))) rmSync(path);
  return outcome === "connected";
}

/** @returns `connected` if a program listens on the socket, else the code of the error */
function connectTo(path: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(path, () => {
    socket.destroy();
    resolve("connected");
  });
  socket.once("error", (error) => resolve(codeOf(error) ?? error.message));
  return promise;
}

const RESPONSE_LIMIT_MS = 5_000;

/** @returns what is wrong with the service on the socket; undefined if it passes the health check */
export async function healthFault(
  path: string,
  { hasTls }: { hasTls: boolean },
): Promise<string | undefined> {
  try {
    const { status } = await fetch(`${hasTls ? "https" : "http"}://localhost/health`, {
      unix: path,
      signal: AbortSignal.timeout(RESPONSE_LIMIT_MS),
      tls: { rejectUnauthorized: false }, // the certificate is for the public name; the socket file is trusted
    });
    return status === 200 ? undefined : `status ${status}`;
  } catch (error) {
    return codeOf(error) ?? "no response";
  }
}

export interface PlacedSocket<T> {
  readonly running: T;
  /** Removes the file, unless another program has replaced it. */
  remove(): void;
}

/**
 * Binds under a temporary name beside `path` and links it into place. A link never replaces a file, and callers never see
 * another mode. The runtime removes only the temporary name, so it cannot remove a successor's socket.
 * @param bind listens on the given path
 * @throws Error with code EEXIST if something is at `path`; errors of `bind`
 */
export function placeSocket<T extends { stop(): unknown }>(
  path: string,
  bind: (path: string) => T,
): PlacedSocket<T> {
  const bound = join(dirname(path), `.${process.pid.toString(36)}`);
  rmSync(bound, { force: true }); // left by a killed process that had our process id
  const before = process.umask(OWNER_ONLY_MASK);
  try {
    const running = bind(bound);
    try {
      chmodSync(bound, SOCKET_MODE);
      linkSync(bound, path);
    } catch (error) {
      void running.stop();
      throw error;
    }
    const own = identityOf(path);
    return { running, remove: () => void (isSame(own, identityOf(path)) && rmSync(path, { force: true })) };
  } finally {
    process.umask(before);
    rmSync(bound, { force: true });
  }
}

interface Identity {
  device: number;
  inode: number;
  isSocket: boolean;
}

function identityOf(path: string): Identity | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found && { device: found.dev, inode: found.ino, isSocket: found.isSocket() };
}

const isSame = (one: Identity | undefined, other: Identity | undefined): boolean =>
  one !== undefined && other?.device === one.device && other.inode === one.inode;
