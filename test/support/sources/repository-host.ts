// Repository hosts on this machine that respond as the documentation of each says: one repository with branches, tags and commits,
// which requires a credential. repository-responses.ts has the responses.
import { sha256Hex } from "../../../src/platform/ids.ts";
import { tarEntry, tarFolder, tarGzOf, tarPax } from "../content/tar.ts";
import { type HostKind, routesOf } from "./repository-responses.ts";

export interface HostCommit {
  sha: string;
  committedAt: string;
  archive: Uint8Array;
}

export interface SeenRequest {
  method: string;
  /** as it was sent: percent-encoded, with its query */
  path: string;
  headers: Headers;
}

/** The behavior that a test changes while the host runs. */
export interface HostState {
  kind: HostKind;
  /** `owner/name` as the host spells it */
  fullName: string;
  branches: Map<string, string>;
  tags: Map<string, string>;
  commits: Map<string, HostCommit>;
  token: string;
}

export interface RepositoryHost extends Disposable, HostState {
  origin: string;
  seen: SeenRequest[];
  /** responds instead of the host if it returns a response */
  instead?: ((request: Request) => Response | undefined | Promise<Response | undefined>) | undefined;
  /** Adds a commit with these files. @returns its object name */
  commit(files: Readonly<Record<string, string>>): string;
}

export const TOKEN = "a-token-that-may-read";
export const REPOSITORY = "acme/tools";

/** @param kind of its API @returns a host that listens on 127.0.0.1 until it is disposed */
export function createRepositoryHost(
  kind: HostKind,
  { tls, fullName = REPOSITORY }: { tls?: { cert: string; key: string }; fullName?: string } = {},
): RepositoryHost {
  const seen: SeenRequest[] = [];
  const state: HostState = {
    kind,
    fullName,
    token: TOKEN,
    branches: new Map(),
    tags: new Map(),
    commits: new Map(),
  };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    ...(tls && { tls }),
    async fetch(request) {
      const path = request.url.slice(request.url.indexOf("/", "https://".length));
      seen.push({ method: request.method, path, headers: request.headers });
      return (await host.instead?.(request)) ?? (await routesOf(state, request, path));
    },
  });
  const host: RepositoryHost = Object.assign(state, {
    origin: `${tls ? "https" : "http"}://127.0.0.1:${server.port}`,
    seen,
    commit(files: Readonly<Record<string, string>>) {
      const sha = sha256Hex(JSON.stringify([files, state.commits.size])).slice(0, 40);
      const archive = hostArchive(`tools-${sha.slice(0, 7)}`, files);
      state.commits.set(sha, { sha, committedAt: "2025-11-12T08:09:10Z", archive });
      return sha;
    },
    [Symbol.dispose]: () => void server.stop(true),
  });
  return host;
}

/** @returns an archive as hosts create it: with a comment, one folder around everything, times and group permissions */
export function hostArchive(top: string, files: Readonly<Record<string, string>>): Uint8Array {
  const entries = Object.entries(files).map(([name, body]) =>
    tarEntry({ name: `${top}/${name}`, mode: name.endsWith(".sh") ? "0000775" : "0000664" }, body),
  );
  return tarGzOf(tarPax({ comment: "abc" }, "g"), tarFolder(`${top}/`), ...entries);
}
