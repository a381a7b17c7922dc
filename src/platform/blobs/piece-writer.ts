// Writes the pieces of one file and hashes them, in the calling thread. The implementation in write-thread.ts uses another thread.
import type { FileHandle } from "node:fs/promises";

/** Takes the pieces of one file in order, one at a time. Disposing it waits for the last one. */
export interface PieceWriter extends AsyncDisposable {
  /** The caller must not touch the piece again. @throws errors of the file system, of this piece or of the one before */
  write(piece: Uint8Array): Promise<void>;
  /** Waits until all pieces are written. @returns their SHA-256 as 64 lower-case hexadecimal digits */
  digest(): Promise<string>;
}

/** @param file must stay open until the writer is disposed */
export type OpenWriter = (file: FileHandle) => PieceWriter;

/** @returns a writer that works in the calling thread */
export const openInlineWriter: OpenWriter = (file) => {
  const hasher = new Bun.CryptoHasher("sha256");
  return {
    async write(piece) {
      hasher.update(piece);
      for (let offset = 0; offset < piece.byteLength; )
        offset += (await file.write(piece, offset)).bytesWritten;
    },
    digest: async () => hasher.digest("hex"),
    [Symbol.asyncDispose]: async () => {},
  };
};
