// Unpacks the bytes of an archive, and refuses what gzip readers disagree about. tar.ts interprets the result.
import { pipeline } from "node:stream";
import { createGunzip, type Gunzip } from "node:zlib";
import { codeOf } from "../../../platform/errors.ts";
import { refusal } from "./limits.ts";

type Bytes = AsyncIterable<Uint8Array>;

const PIECE_BYTES = 64 * 1024;
const EMPTY = new Uint8Array();
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/**
 * Unpacks exactly one gzip member (RFC 1952 section 2.2) with nothing after it.
 * @throws DomainError `archive.not_gzip`, `archive.corrupt`, `archive.truncated`, `archive.trailing_data`; errors of the stream
 */
export async function* gunzip(compressed: Bytes): AsyncGenerator<Uint8Array> {
  const intake = { bytes: 0, firstTwo: EMPTY, lastFour: EMPTY };
  const unpacker = createGunzip({ chunkSize: PIECE_BYTES });
  // An error of the source reaches the loop below, because pipeline destroys the unpacker with it.
  pipeline(watched(compressed, intake), unpacker, () => {});
  let expandedBytes = 0;
  try {
    for await (const chunk of unpacker as AsyncIterable<Uint8Array>) {
      expandedBytes += chunk.byteLength;
      yield chunk;
    }
  } catch (error) {
    throw gzipRefusal(error, intake) ?? error;
  } finally {
    unpacker.destroy();
  }
  refuseMoreThanOneMember(unpacker, intake, expandedBytes);
}

interface Intake {
  bytes: number;
  firstTwo: Uint8Array;
  lastFour: Uint8Array;
}

async function* watched(compressed: Bytes, intake: Intake): AsyncGenerator<Uint8Array> {
  for await (const chunk of compressed) {
    intake.bytes += chunk.byteLength;
    intake.firstTwo = Buffer.concat([intake.firstTwo, chunk.subarray(0, 2)]).subarray(0, 2);
    intake.lastFour = Buffer.concat([intake.lastFour, chunk.subarray(-4)]).subarray(-4);
    yield chunk;
  }
}

/** Bytes after the first member are not allowed, because only some readers unpack them. */
function refuseMoreThanOneMember(unpacker: Gunzip, intake: Intake, expandedBytes: number): void {
  if (unpacker.bytesWritten !== intake.bytes) {
    throw refusal("trailing_data", "there are bytes after the end of the gzip data", REPACK);
  }
  // The last four bytes are the length modulo 2^32 of the last member only (RFC 1952 section 2.3.1).
  if (Buffer.from(intake.lastFour).readUInt32LE() !== expandedBytes % 2 ** 32) {
    throw refusal(
      "trailing_data",
      "the archive consists of several gzip members, one after the other",
      REPACK,
    );
  }
}

function gzipRefusal(error: unknown, { firstTwo }: Intake): Error | undefined {
  const code = codeOf(error);
  if (code === "Z_BUF_ERROR") return truncated();
  if (code !== "Z_DATA_ERROR") return undefined;
  return GZIP_MAGIC.equals(firstTwo)
    ? refusal("corrupt", "the gzip data is damaged, or something else follows it", REPACK)
    : refusal("not_gzip", "the archive is not gzip data", REPACK);
}

export const REPACK = "pack it again from inside its folder: tar czf package.tar.gz *";

/** @returns the error for an archive that ends too early */
export const truncated = (): Error =>
  refusal("truncated", "the archive ends in the middle: part of it is missing", "fetch or pack it again");
