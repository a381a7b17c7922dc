// The one place that opens a SQLite file: never through a symbolic link. SQLite itself refuses links in the places of -wal and
// -shm. What connections are used for is connection.ts's.
import { constants, Database } from "bun:sqlite";
import { withoutFolderLinks } from "../own-files.ts";

/**
 * @param flags of SQLite's open, without SQLITE_OPEN_NOFOLLOW
 * @throws SQLiteError SQLITE_CANTOPEN_SYMLINK for a link
 */
export const openSqliteFile = (file: string, flags: number): Database =>
  new Database(withoutFolderLinks(file), flags | constants.SQLITE_OPEN_NOFOLLOW);
