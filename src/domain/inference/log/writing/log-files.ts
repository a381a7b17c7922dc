// The files of the request log while a connection has them open: the database, its write-ahead log (-wal) and that log's index
// (-shm). SQLite expects that no other program changes them. People and scripts do, so their changes are detected before each task,
// and repaired where that is possible.
import { statSync } from "node:fs";
import { resetIndex } from "../../../../platform/database/maintenance/log-index.ts";

export interface OutsideChange {
  /** for the log of the service */
  what: string;
  /** the files must be opened again */
  isReopening: boolean;
}

const REPLACED = { what: "request-logs.db was moved, deleted or emptied", isReopening: true };
const ROWS_LOST = {
  what: "request-logs.db-wal was deleted or truncated; the latest rows may be lost",
  isReopening: true,
};
const INDEX_REPLACED = { what: "request-logs.db-shm was deleted; no rows are lost", isReopening: true };
const INDEX_CUT = { what: "request-logs.db-shm was truncated; no rows are lost", isReopening: false };

interface Facts {
  inode: number;
  sizeBytes: number;
}

export class LogFiles {
  readonly #database: Facts;
  readonly #wal: Facts;
  readonly #index: Facts;

  /** Call it once a connection has opened the files. */
  constructor(private readonly file: string) {
    this.#database = factsOf(file);
    this.#wal = factsOf(`${file}-wal`);
    this.#index = factsOf(`${file}-shm`);
  }

  /** Records that the files have grown. SQLite never shrinks them while they are open. */
  grew(): void {
    for (const [known, end] of [
      [this.#database, ""],
      [this.#wal, "-wal"],
      [this.#index, "-shm"],
    ] as const)
      known.sizeBytes = Math.max(known.sizeBytes, factsOf(this.file + end).sizeBytes);
  }

  /**
   * Repairs the index, because reading beyond the end of a mapped file ends the whole process with SIGBUS.
   * @returns the outside change; undefined for none
   */
  checkOutsideChange(): OutsideChange | undefined {
    const { file } = this;
    const [database, wal, index] = [factsOf(file), factsOf(`${file}-wal`), factsOf(`${file}-shm`)];
    const isIndexSame = index.inode === this.#index.inode;
    const isIndexCut = isIndexSame && index.sizeBytes < this.#index.sizeBytes;
    const isWalCut = wal.inode === this.#wal.inode && wal.sizeBytes < this.#wal.sizeBytes;
    if (isIndexCut || (isIndexSame && isWalCut)) resetIndex(file, this.#index.sizeBytes);
    if (database.inode !== this.#database.inode) return REPLACED;
    if (database.sizeBytes === 0 && this.#database.sizeBytes > 0) return REPLACED;
    if (isWalCut || wal.inode !== this.#wal.inode) return ROWS_LOST;
    if (!isIndexSame) return INDEX_REPLACED;
    return isIndexCut ? INDEX_CUT : undefined;
  }
}

/** @returns zeros for a missing file */
function factsOf(path: string): Facts {
  const { ino: inode = 0, size: sizeBytes = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return { inode, sizeBytes };
}
