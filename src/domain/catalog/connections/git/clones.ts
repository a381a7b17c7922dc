// Prepares access to a connection's repositories with git: their URLs, the credential, and a private folder for each run.
import type { TemporaryFolders } from "../../../../platform/files/temporary-folders.ts";
import type { Outbound } from "../../../../platform/outbound/outbound.ts";
import { type Connection, type Credential, destinationsOfConnection } from "../connection.ts";
import { sourceFault } from "../errors.ts";
import { type GitArchiveTarget, type GitRun, GitTransport } from "./git-transport.ts";

/** User name to send with a token: required by Bitbucket Cloud ("Repository access tokens"); many other servers accept any name. */
const TOKEN_USER = "x-token-auth";

export interface CloneAccess {
  outbound: Pick<Outbound, "connectionSettings">;
  /** folder for files that git writes */
  folders: TemporaryFolders;
  /** @returns the absolute path of git; default: the machine has no git */
  findGit?: (() => string | undefined) | undefined;
}

/** Each method throws DomainError `source.*`. */
export class Clones {
  readonly #git: GitTransport;
  readonly #listed = new Map<string, Promise<ReadonlyMap<string, string>>>();

  constructor(
    private readonly dependencies: CloneAccess,
    private readonly connection: Connection,
    private readonly bounds: { signal: AbortSignal },
  ) {
    this.#git = new GitTransport(dependencies.findGit?.());
  }

  /** @returns the address of a repository, without a credential */
  urlOf(repository: string): string {
    const { clone } = this.connection;
    if (!clone) throw sourceFault("bad_answer");
    const [namespace = "", name = ""] = repository.split("/").map(encodeURIComponent);
    return `${clone.base}/${clone.path.replace("{namespace}", namespace).replace("{name}", name)}`;
  }

  async version(): Promise<string> {
    await using folder = await this.dependencies.folders.create();
    return (await this.#git.installed({ folder: folder.path, ...this.bounds })).version;
  }

  /** @param names full names of refs; each is looked up once @returns the object names of those that exist */
  async refs(repository: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const key = JSON.stringify([repository, names]);
    const listed = this.#listed.get(key) ?? this.#run(repository, (run) => this.#git.refs(run, names));
    this.#listed.set(key, listed);
    return await listed;
  }

  /** Writes the archive of a commit. @returns undefined if the commit has no such folder */
  async archive(
    repository: string,
    wanted: { commit: string; path: string },
    target: GitArchiveTarget,
  ): Promise<{ committedAtMs: number | undefined } | undefined> {
    return await this.#run(repository, (run) => this.#git.archive(run, wanted, target));
  }

  async #run<T>(repository: string, work: (run: GitRun) => Promise<T>): Promise<T> {
    await using folder = await this.dependencies.folders.create();
    const url = this.urlOf(repository);
    const { ca } = this.connection;
    const { proxy, authorities } = await this.dependencies.outbound.connectionSettings(
      this.#destinationOf(url),
      url,
      {
        ca,
      },
    );
    const remote = { url, authorization: authorizationOf(this.connection.credential()), proxy };
    return await work({ remote, authorities, folder: folder.path, ...this.bounds });
  }

  #destinationOf(url: string): string {
    const { origin } = new URL(url);
    const found = destinationsOfConnection(this.connection).find(
      (destination) => destination.origin === origin,
    );
    return found?.name ?? "";
  }
}

function authorizationOf(credential: Credential): string | undefined {
  if (credential.kind === "login") return basicOf(credential);
  return credential.kind === "token" ? basicOf({ ...credential, username: TOKEN_USER }) : undefined;
}

/** @returns the value of the header `Authorization` (RFC 7617) */
export const basicOf = ({
  username,
  token,
}: Pick<Credential & { kind: "login" }, "username" | "token">): string =>
  `Basic ${Buffer.from(`${username}:${token.reveal()}`).toString("base64")}`;
