// Opens the bytes of a captured session: unpacks a bundle up to the file with the transcript. Every size and name in the bundle
// is checked, because the uploader may have forged it.
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { ByteSource, metered } from "../../../platform/files/byte-source.ts";
import { isZeros, readTarHeader, TAR_BLOCK_BYTES, tarPaddingLength } from "../../../platform/files/tar.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";
import type { ArtifactFormat } from "../model.ts";
import { BUNDLE_BYTES_MAX, BUNDLE_FILE_BYTES_MAX, BUNDLE_FILES_MAX, MANIFEST_BYTES_MAX } from "./limits.ts";
import { noTranscript } from "./model.ts";

type Bytes = AsyncIterable<Uint8Array>;

const PIECE_BYTES = 64 * 1024;
const MANIFEST = "manifest.json";

/** The role of the transcript's file, by harness. @source the client's bundle format, version 1 */
const PRIMARY_ROLES: Readonly<Record<string, string>> = {
  codex: "rollout",
  claude: "primary_transcript",
  kimi: "agent_wire_history",
  opencode: "portable_export",
};

/** Facts from the row of the session. */
export interface StoredAs {
  format: ArtifactFormat;
  harness: string;
}

/**
 * @returns the bytes of the transcript
 * @throws DomainError `sessions.no_transcript`; errors of the stream
 */
export async function* transcriptBytes(
  stored: Bytes,
  { format, harness }: StoredAs,
): AsyncGenerator<Uint8Array> {
  const role = PRIMARY_ROLES[harness];
  if (role === undefined) throw noTranscript(`transcripts of ${harness} are not known here`);
  if (format === "legacy-raw") return yield* metered(stored, fileMeter());
  let path: string | undefined;
  for await (const file of bundleFiles(stored)) {
    if (path === undefined) path = primaryPath(await file.manifest(), role);
    else if (file.path === path) return yield* file.bytes();
  }
  throw noTranscript("its archive lacks the file that the manifest calls the transcript");
}

/**
 * @returns all stored bytes, unpacked
 * @throws DomainError `sessions.no_transcript`; errors of the stream
 */
export const unpackedBytes = (stored: Bytes, { format }: Pick<StoredAs, "format">): Bytes =>
  format === "legacy-raw" ? stored : unpacked(stored);

interface BundledFile {
  path: string;
  /** @throws unless this is the manifest */
  manifest(): Promise<unknown>;
  /** at most once */
  bytes(): AsyncGenerator<Uint8Array>;
}

/** The files of a bundle, beginning with the manifest. Bytes that the caller does not read are skipped. */
async function* bundleFiles(stored: Bytes): AsyncGenerator<BundledFile> {
  const source = new ByteSource(unpacked(stored), cutShort);
  let longName: string | undefined;
  try {
    for (let files = 0; ; ) {
      const header = await nextHeader(source);
      if (!header) return;
      const { type, sizeBytes } = header;
      const padding = tarPaddingLength(sizeBytes);
      if (type === "L") {
        longName = textOf(await source.take(readable(sizeBytes, PATH_BYTES_MAX)));
        await source.skip(padding);
        continue;
      }
      if (files > BUNDLE_FILES_MAX) throw noTranscript(`its archive has more than ${BUNDLE_FILES_MAX} files`);
      files += 1;
      const path = longName ?? header.path;
      longName = undefined;
      let left = sizeBytes;
      yield {
        path,
        async manifest() {
          if (path !== MANIFEST) throw noTranscript(`its archive does not begin with ${MANIFEST}`);
          const bytes = await source.take(readable(sizeBytes, MANIFEST_BYTES_MAX));
          left = 0;
          return parsed(textOf(bytes));
        },
        async *bytes() {
          while (left > 0) {
            const piece = await source.some(left);
            if (piece.byteLength === 0) throw cutShort();
            left -= piece.byteLength;
            yield piece;
          }
        },
      };
      await source.skip(left + padding);
    }
  } finally {
    await source.close();
  }
}

/** PATH_MAX of Linux; the client's paths are shorter. */
const PATH_BYTES_MAX = 4_096;

/** @returns undefined at the end */
async function nextHeader(
  source: ByteSource,
): Promise<{ type: string; path: string; sizeBytes: number } | undefined> {
  const block = await source.take(TAR_BLOCK_BYTES);
  if (isZeros(block)) return undefined;
  const header = readTarHeader(block);
  if (header?.sizeBytes === undefined)
    throw noTranscript("its archive contains something other than tar headers");
  const { type, sizeBytes } = header;
  if (type !== "0" && type !== "L")
    throw noTranscript("its archive contains something other than files, such as a link");
  return { type, path: textOf(header.path), sizeBytes: readable(sizeBytes, BUNDLE_FILE_BYTES_MAX) };
}

function readable(sizeBytes: number, max: number): number {
  if (sizeBytes > max)
    throw noTranscript(`a file in its archive has ${sizeBytes} bytes; at most ${max} are read`);
  return sizeBytes;
}

function primaryPath(manifest: unknown, role: string): string {
  const files = isJsonObject(manifest) && Array.isArray(manifest.files) ? manifest.files : [];
  const primary: unknown = files.find((file: unknown) => isJsonObject(file) && file.role === role);
  if (isJsonObject(primary) && typeof primary.path === "string") return primary.path;
  throw noTranscript(`its manifest names no file with the role ${role}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw noTranscript("its manifest is not JSON");
  }
}

async function* unpacked(stored: Bytes): AsyncGenerator<Uint8Array> {
  const unpacker = createGunzip({ chunkSize: PIECE_BYTES });
  let sourceError: unknown;
  const watched = async function* () {
    try {
      yield* stored;
    } catch (error) {
      sourceError = error;
      throw error;
    }
  };
  // An error of the source reaches the loop below, because pipeline destroys the unpacker with it.
  pipeline(watched(), unpacker, () => {});
  const meter = {
    bytes: 0,
    max: BUNDLE_BYTES_MAX,
    refuse: () => noTranscript(`its archive unpacks to more than ${BUNDLE_BYTES_MAX} bytes`),
  };
  try {
    yield* metered(unpacker, meter);
  } catch (error) {
    if (sourceError !== undefined) throw sourceError;
    throw error instanceof Error && "code" in error
      ? noTranscript("its archive is damaged, truncated or not gzip data")
      : error;
  } finally {
    unpacker.destroy();
  }
}

const fileMeter = () => ({
  bytes: 0,
  max: BUNDLE_FILE_BYTES_MAX,
  refuse: () => noTranscript(`it has more than ${BUNDLE_FILE_BYTES_MAX} bytes`),
});

const cutShort = () => noTranscript("its archive ends in the middle");

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString().replace(/\0.*$/s, "");
