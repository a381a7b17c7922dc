// The file of a Unix socket: made under another name and put in its place with the final mode, never over the socket of a
// live program, and removed at the end only while it is still ours. What is served on it is listen.ts.
import { chmodSync, linkSync, lstatSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";

const SOCKET_MODE = 0o660;
/** The mask that makes a new socket accessible to its owner alone. */
const OWNER_ONLY_MASK = 0o177;

/**
 * Removes a socket on which nobody listens, as a killed process leaves one. Everything else stays.
 * @param path of the socket; nothing needs to be there
 * @returns whether a program answers there
 */
export async function clearStaleSocket(path: string): Promise<boolean> {
  const found = identityOf(path);
  if (!found?.isSocket) return false;
  const outcome = await connectTo(path);
  if (outcome === "ECONNREFUSED" && isSame(found, identityOf(path))) rmSync(path);
  return outcome === "connected";
}

/** @returns `connected` when a program listens on the socket, or else the code of the error */
export function connectTo(path: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(path, () => {
    socket.destroy();
    resolve("connected");
  });
  socket.once("error", (error) => resolve("code" in error ? String(error.code) : error.message));
  return promise;
}

export interface PlacedSocket<T> {
  readonly running: T;
  /** Removes the file, unless another program has put its own in its place. */
  remove(): void;
}

/**
 * Binds under a temporary name beside `path` and links it into place: a link never replaces a file, callers never see
 * another mode, and the runtime, which removes the name that it bound, does not remove a successor's socket.
 * @param bind listens on the path that it is given
 * @throws Error with code EEXIST when something is at `path`; whatever `bind` throws
 */
export function placeSocket<T extends { stop(): unknown }>(
  path: string,
  bind: (path: string) => T,
): PlacedSocket<T> {
  const bound = join(dirname(path), `.${process.pid.toString(36)}`);
  rmSync(bound, { force: true }); // of a killed process that had our number
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
