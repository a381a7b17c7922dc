// Types for the parts of ssh2 that are used. The published types would add the types of another runtime.
declare module "ssh2" {
  import type { EventEmitter } from "node:events";
  import type { Server as NetServer } from "node:net";

  type Callback<T extends unknown[] = []> = (error: Error | null | undefined, ...results: T) => void;

  export interface Attributes {
    mode: number;
    /** seconds since 1970 */
    mtime: number;
    size?: number;
    uid?: number;
    gid?: number;
    atime?: number;
  }

  export interface SFTPWrapper {
    open(
      path: string,
      flags: "r" | "w" | "wx",
      attributes: { mode: number },
      callback: Callback<[Buffer]>,
    ): void;
    close(handle: Buffer, callback: Callback): void;
    read(
      ...request: [
        handle: Buffer,
        into: Buffer,
        offset: number,
        length: number,
        position: number,
        callback: Callback<[number]>,
      ]
    ): void;
    write(
      ...request: [
        handle: Buffer,
        from: Buffer,
        offset: number,
        length: number,
        position: number,
        callback: Callback,
      ]
    ): void;
    stat(path: string, callback: Callback<[Attributes]>): void;
    mkdir(path: string, attributes: { mode: number }, callback: Callback): void;
    readdir(path: string, callback: Callback<[{ filename: string; attrs: Attributes }[]]>): void;
  }

  export interface ConnectOptions {
    host: string;
    port: number;
    username: string;
    privateKey: string;
    algorithms: { serverHostKey: readonly string[] };
    hostVerifier(key: Buffer): boolean;
  }

  export class Client extends EventEmitter {
    connect(options: ConnectOptions): this;
    sftp(callback: Callback<[SFTPWrapper]>): void;
    destroy(): void;
  }

  /** The requests of a client; each response repeats the number of its request. */
  export interface ServedFiles extends EventEmitter {
    handle(request: number, handle: Buffer): void;
    status(request: number, code: number): void;
    data(request: number, bytes: Buffer): void;
    attrs(request: number, attributes: Attributes): void;
    name(request: number, entries: { filename: string; longname: string; attrs: Attributes }[]): void;
  }

  export class Server extends NetServer {
    constructor(options: { hostKeys: readonly string[] }, connected: (client: ConnectedClient) => void);
  }

  export interface ConnectedClient extends EventEmitter {
    end(): void;
  }

  export const utils: {
    generateKeyPairSync(type: "ed25519"): { private: string; public: string };
    parseKey(text: string): object | Error;
    sftp: { OPEN_MODE: Readonly<Record<"READ" | "WRITE" | "CREAT" | "TRUNC" | "EXCL", number>> };
  };
}
