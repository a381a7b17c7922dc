// Where `gateway logs export` writes: a folder, or the object store of the configuration.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Content } from "../../../src/domain/inference/log/log-archive.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { folderMissing, replaceFile } from "../../../src/platform/files/operator-files.ts";
import type { Call } from "../../data-directory/in-domain.ts";

const FILE_MODE = 0o600;

export interface ExportTarget {
  /** path or URL, without a slash at its end */
  readonly folder: string;
  has(name: string): Promise<boolean>;
  /** Writes the whole file; if that fails, a former file stays. */
  write(name: string, content: Content): Promise<void>;
}

/** @throws DomainError `usage.target`, `file.missing`, `request_log.store_unset`, `object_store.*` */
export async function targetOf(call: Call, contentType: string): Promise<ExportTarget> {
  const out = call.text("out");
  if ((out === undefined) !== call.has("store"))
    throw new DomainError("invalid", "usage.target", "choose one destination for the files", {
      hint: "add --out FOLDER or --store",
    });
  return out === undefined ? await storeTarget(call, contentType) : folderTarget(call, out);
}

function folderTarget({ context }: Call, out: string): ExportTarget {
  const folder = resolve(context.cwd, out);
  if (!existsSync(folder)) throw folderMissing(folder);
  return {
    folder,
    has: async (name) => existsSync(join(folder, name)),
    write: (name, content) => replaceFile(join(folder, name), content(), { mode: FILE_MODE }),
  };
}

async function storeTarget({ domain, context }: Call, contentType: string): Promise<ExportTarget> {
  const { archive } = domain.requestLogs;
  if (!archive)
    throw new DomainError("invalid", "request_log.store_unset", "no object store is configured", {
      hint: "set blobs.s3.endpoint, blobs.s3.bucket and its credentials, or name a folder with --out",
    });
  await archive.check();
  const signal = context.stopSignal();
  return {
    folder: archive.url,
    has: (name) => archive.has(name),
    write: (name, content) => archive.put(name, content, { contentType, signal }),
  };
}
