// Reads the request log from its file for commands, whether or not a service runs, without changing it.
import { runSynchronously } from "../../../platform/steps.ts";
import { asLogFileError, openLogForReading } from "./log-file-store.ts";
import {
  type FoundRows,
  type LogFigures,
  NOTHING_FOUND,
  NOTHING_SEEN,
  type RowSearch,
  type SeenValues,
} from "./model.ts";
import { LogReader } from "./search-store.ts";
import type { SummaryFound, SummarySearch } from "./summary/model.ts";
import { nothingIn } from "./summary/summarize.ts";
import type { LogSource } from "./writing/running-log.ts";

export class FileSource implements LogSource {
  /** @param options see ConnectionOptions */
  constructor(
    private readonly file: string,
    private readonly options: { untouched?: true } = {},
  ) {}

  /**
   * Opens the file while `work` runs; the reader must not be used afterwards.
   * @returns the result of the work; undefined if there is no file
   * @throws DomainError `storage.*`, `request_log.newer`
   */
  read<T>(work: (reader: LogReader) => T): T | undefined {
    const database = openLogForReading(this.file, this.options);
    if (!database) return undefined;
    const reader = new LogReader(database);
    try {
      return work(reader);
    } catch (error) {
      throw asLogFileError(error);
    } finally {
      reader.close();
    }
  }

  /** `search` in one turn. */
  searchNow(search: RowSearch): FoundRows {
    return this.read((reader) => runSynchronously(reader.search(search))) ?? NOTHING_FOUND;
  }

  async search(search: RowSearch): Promise<FoundRows> {
    return this.searchNow(search);
  }

  /** `summarize` in one turn, only from the rows. */
  summarizeNow(search: SummarySearch): SummaryFound {
    return this.read((reader) => runSynchronously(reader.summarize(search, false))) ?? nothingIn(search);
  }

  async summarize(search: SummarySearch): Promise<SummaryFound> {
    return this.summarizeNow(search);
  }

  async seen(fromMs: number): Promise<SeenValues> {
    return this.read((reader) => reader.seenSince(fromMs)) ?? NOTHING_SEEN;
  }

  async figures(fromMs: number): Promise<LogFigures> {
    return this.read((reader) => reader.figures(fromMs)) ?? { oldestMs: null, gaps: [] };
  }
}
