// The only place that opens a SQLite file; it never follows a symbolic link. SQLite itself refuses links in place of its -wal
// and -shm files. connection.ts configures the connections.
import { constants, Database } from "bun:sqlite";
import { withoutFolderLinks } from "../files/data-files.ts";

/**
 * @param flags of `sqlite3_open_v2`, without SQLITE_OPEN_NOFOLLOW
 * @throws SQLiteError SQLITE_CANTOPEN_SYMLINK for a link
 */
export const openSqliteFile = (file: string, flags: number): Database =>
  new Database(withoutFolderLinks(file), flags | constants.SQLITE_OPEN_NOFOLLOW);
