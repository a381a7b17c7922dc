// Requirements for an object store with exported days of the request log. `bun run test:s3` also runs these cases with
// a real store.
import { equal, ok, rejects } from "node:assert/strict";
import type { Content, LogArchive } from "../../../src/domain/inference/log/log-archive.ts";
import { DomainError } from "../../../src/platform/errors.ts";

export interface ArchiveCase {
  /** a sentence about the store */
  name: string;
  run(archive: LogArchive): Promise<void>;
}

const PIECE_BYTES = 64 * 1024;
/** upper limit for the growth of memory */
const LARGE_PIECES = 24 * 16;

export const putLines = (archive: LogArchive, name: string, content: Content): Promise<void> =>
  archive.put(name, content, {
    contentType: "application/x-ndjson",
    signal: new AbortController().signal,
  });

async function* piecesOf(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function* large(): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < LARGE_PIECES; piece += 1) yield Buffer.alloc(PIECE_BYTES, piece);
}

export const ARCHIVE_CASES: readonly ArchiveCase[] = [
  {
    name: "keeps an exported day, and replaces it",
    async run(archive) {
      await archive.check();
      equal(await archive.has("requests-2027-06-01.jsonl"), false);
      await putLines(archive, "requests-2027-06-01.jsonl", () => piecesOf("a\n", "b\n"));
      await putLines(archive, "requests-2027-06-01.jsonl", () => piecesOf("a\n"));
      equal(await archive.has("requests-2027-06-01.jsonl"), true);
      equal(await archive.has("requests-2027-06-01.parquet"), false);
    },
  },
  {
    name: "keeps an exported day of 24 MiB",
    async run(archive) {
      await putLines(archive, "requests-2027-06-02.jsonl", large);
      ok(await archive.has("requests-2027-06-02.jsonl"));
    },
  },
  ...["a\nb", "a\nbc\n", "a\nc\n"].map((second) => ({
    name: `stores nothing if the day changes during the transfer: ${JSON.stringify(second)}`,
    async run(archive: LogArchive) {
      const made = ["a\nb\n", second];
      const content = () => piecesOf(...(made.shift() ?? "").split(/(?<=\n)/));
      await rejects(
        putLines(archive, "requests-2027-06-03.jsonl", content),
        (error) => error instanceof DomainError && error.reason === "request_log.changed",
      );
      equal(await archive.has("requests-2027-06-03.jsonl"), false);
    },
  })),
];
