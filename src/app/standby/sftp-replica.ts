// The place of a replica on a file server: the same folders and records as in replica-store.ts, read and written over SFTP.

import { SECOND_MS } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { placeOf, type ReplicaPlace } from "../../platform/config/standby/replica.ts";
import { DomainError, reasonForOperators } from "../../platform/errors.ts";
import { readOwnFile } from "../../platform/files/data-files.ts";
import { LIST_KEYS_MAX } from "../../platform/object-store/bucket.ts";
import type { Destination, Outbound } from "../../platform/outbound/outbound.ts";
import type { RemoteFiles } from "../../platform/outbound/sftp.ts";
import { needed } from "../installation/needed-setting.ts";
import type { ReplicaObject, ReplicaStore } from "./replica-store.ts";

const SFTP_DESTINATION = "standby-sftp";
const TIMEOUT_MS = 20 * SECOND_MS;
/** Litestream has three levels of folders below a term. */
export const FOLDERS_MAX = 200;

type Place = Extract<ReplicaPlace, { kind: "sftp" }>;

export function sftpDestinations(config: Config): readonly Destination[] {
  const url = config.get("standby.replica");
  const place = url === undefined ? undefined : placeOf(url);
  if (place?.kind !== "sftp") return [];
  return [{ name: SFTP_DESTINATION, origin: originOf(place), why: "keeps the replica of the database" }];
}

/** @returns host and port, such as `nas:22` */
export const sftpAddress = ({ host }: Pick<Place, "host">): string =>
  host.includes(":") ? host : `${host}:22`;

const originOf = (place: Place): string => `sftp://${sftpAddress(place)}`;

interface Access {
  config: Config;
  /** for messages */
  url: string;
  outbound: Pick<Outbound, "sftp">;
}

/** The key is read at each use, so a renewed key needs no restart. */
export function sftpReplica({ user, path }: Place, { config, url, outbound }: Access): ReplicaStore {
  const on = async <T>(work: (files: RemoteFiles) => Promise<T>): Promise<T> => {
    try {
      const privateKey = readOwnFile(needed(config, "standby.sftp_key_file")).text;
      const login = {
        user,
        privateKey,
        hostKey: needed(config, "standby.sftp_host_key"),
        timeoutMs: TIMEOUT_MS,
      };
      return await outbound.sftp(SFTP_DESTINATION, login, work);
    } catch (cause) {
      throw unreachable(url, cause);
    }
  };
  return {
    url,
    list: ({ prefix, after = "", max = LIST_KEYS_MAX }) =>
      on(async (files) =>
        (await filesBelow(files, path, prefix))
          .filter(({ key }) => key.startsWith(prefix) && key > after)
          .sort((one, other) => (one.key < other.key ? -1 : 1))
          .slice(0, max),
      ),
    names: () => on(async (files) => (await files.list(path)).map(({ name }) => name)),
    read: (key) => on((files) => files.read(`${path}/${key}`)),
    create: (key, text) => on((files) => files.create(`${path}/${key}`, text)),
    replace: (key, text) => on((files) => files.replace(`${path}/${key}`, text)),
  };
}

/** Reads only the folders that match the prefix. */
async function filesBelow(files: RemoteFiles, root: string, prefix: string): Promise<ReplicaObject[]> {
  const waiting = [prefix.slice(0, prefix.lastIndexOf("/") + 1)];
  const found: ReplicaObject[] = [];
  for (let read = 0; waiting.length > 0 && read < FOLDERS_MAX; read += 1) {
    const folder = waiting.shift() ?? "";
    for (const { name, isFolder, modifiedAtMs } of await files.list(`${root}/${folder}`)) {
      if (isFolder && name !== "." && name !== "..") waiting.push(`${folder}${name}/`);
      else if (!isFolder) found.push({ key: folder + name, modifiedAtMs });
    }
  }
  return found;
}

function unreachable(url: string, cause: unknown): DomainError {
  const reason =
    cause instanceof DomainError ? reasonForOperators(cause) : cause instanceof Error ? cause.message : "";
  return new DomainError("unavailable", "standby.store_unreachable", `${url} cannot be used: ${reason}`, {
    hint: "check the server, standby.sftp_host_key, and that the owner of the data directory may read standby.sftp_key_file",
    cause,
  });
}
