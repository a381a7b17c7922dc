// `sessions export`: writes the bytes of a session exactly as its workstation uploaded them.
import { once } from "node:events";
import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import type { ReadObject } from "../../../src/domain/sessions/service.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { bytesText } from "../../../src/platform/files/disk.ts";
import { replaceFile } from "../../../src/platform/files/operator-files.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { printable } from "../../output/printable.ts";
import { type Progress, startProgress } from "../../output/progress.ts";
import { operatorAsViewer } from "./read.ts";

const FILE_MODE = 0o600;

/** The argument for stdout. */
const STDOUT = "-";

/** @throws DomainError `usage.*`, `file.*`, `storage.full`, `sessions.damaged` and the errors of a download */
export async function exportSession(call: Call): Promise<void> {
  const { context, output, args } = call;
  const [id = "", file = ""] = args;
  if (file === STDOUT) return await exportToStdout(call, id);
  if (file === "") throw noFile();
  const path = resolve(context.cwd, file);
  if (lstatSync(path, { throwIfNoEntry: false })) throw fileExists(file);
  const found = await read(call, id);
  await withProgress(call, found, (bytes) => replaceFile(path, bytes, { mode: FILE_MODE }));
  const { sizeBytes, sha256 } = found;
  output.result(
    { id, file: path, size_bytes: sizeBytes, sha256 },
    `Exported ${bytesText(sizeBytes)} to ${printable(file)}\n${digestText(found)}`,
  );
}

/** Damage is detected only after the last byte was written, so the exit code reports it. */
async function exportToStdout(call: Call, id: string): Promise<void> {
  const { context, output } = call;
  const { stdout } = context;
  if (output.isJson) throw noDocument();
  if (stdout.isTTY) throw binaryOnTerminal();
  const found = await read(call, id);
  await withProgress(call, found, async (bytes) => {
    for await (const piece of bytes) if (!stdout.write(piece)) await once(stdout, "drain");
  });
  output.note(`Exported ${bytesText(found.sizeBytes)}\n${digestText(found)}`);
}

const read = (call: Call, id: string): Promise<ReadObject> =>
  call.domain.sessions.downloads.read(call.actor, operatorAsViewer(call), id);

async function withProgress(
  { context }: Call,
  { bytes, sizeBytes: total }: ReadObject,
  write: (bytes: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  using progress = startProgress(context, { label: "exporting the session", unit: "bytes", total });
  await write(watched(bytes, progress, context.stopSignal()));
}

const digestText = ({ sha256 }: ReadObject): string => `sha256:${sha256}, as announced by its workstation`;

async function* watched(
  bytes: ReadObject["bytes"],
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    signal.throwIfAborted();
    progress.advance(piece.byteLength);
    yield piece;
  }
}

const fileExists = (file: string): DomainError =>
  new DomainError("conflict", "file.exists", `the file ${file} already exists`, {
    hint: "choose another name",
  });

const noFile = (): DomainError =>
  new DomainError("invalid", "usage.no_file", "the name of the file is empty", {
    hint: "name a file to create, or - for stdout",
  });

const noDocument = (): DomainError =>
  new DomainError("invalid", "usage.one_output", "stdout takes either the bytes or the JSON document", {
    hint: "name a file, or omit --json",
  });

const binaryOnTerminal = (): DomainError =>
  new DomainError(
    "invalid",
    "usage.binary_on_terminal",
    "the bytes of a session cannot be shown on a terminal",
    {
      hint: "redirect stdout, as in: quartermaster sessions export SESSION - > session.tgz",
    },
  );
