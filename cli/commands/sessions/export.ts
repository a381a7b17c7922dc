// `sessions export`: the bytes of a session as its workstation uploaded them.
import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import type { ReadObject } from "../../../src/domain/sessions/service.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { bytesText } from "../../../src/platform/files/disk.ts";
import { replaceFile } from "../../../src/platform/files/files.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { printable } from "../../output/printable.ts";
import { type Progress, startProgress } from "../../output/progress.ts";
import { operatorAsViewer } from "./read.ts";

const FILE_MODE = 0o600;

/** @throws DomainError `file.exists`, `file.*`, `storage.full`, `sessions.damaged` and the errors of a download */
export async function exportSession(call: Call): Promise<void> {
  const { domain, actor, context, output, args } = call;
  const [id = "", file = ""] = args;
  const path = resolve(context.cwd, file);
  if (lstatSync(path, { throwIfNoEntry: false })) throw fileExists(file);
  const found = await domain.sessions.downloads.read(actor, operatorAsViewer(call), id);
  {
    const total = found.sizeBytes;
    using progress = startProgress(context, { label: "exporting the session", unit: "bytes", total });
    await replaceFile(path, checked(found, progress, context.stopSignal()), { mode: FILE_MODE });
  }
  const { sizeBytes, sha256 } = found;
  const done = `Exported ${bytesText(sizeBytes)} to ${printable(file)}\nsha256:${sha256}, as announced by its workstation`;
  output.result({ id, file: path, size_bytes: sizeBytes, sha256 }, done);
}

/** Throws after the last byte if they are not what was uploaded, so that the partial file is removed. */
async function* checked(
  { bytes, sha256 }: ReadObject,
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  for await (const piece of bytes) {
    signal.throwIfAborted();
    hash.update(piece);
    progress.advance(piece.byteLength);
    yield piece;
  }
  if (hash.digest("hex") !== sha256) throw damaged();
}

const damaged = (): DomainError =>
  new DomainError("unverified", "sessions.damaged", "the stored bytes do not have the digest of the upload", {
    hint: "nothing was written; run: quartermaster sessions verify",
  });

const fileExists = (file: string): DomainError =>
  new DomainError("conflict", "file.exists", `the file ${file} already exists`, {
    hint: "choose another name",
  });
