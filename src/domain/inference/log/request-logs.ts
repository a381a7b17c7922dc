// The request log for administrators and commands: pages with the current addresses of users, the values that filters offer,
// and the removal of a user's rows. request-log-queue.ts adds rows. The file belongs to the one organization.
import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/database.ts";
import type { Problem } from "../../../platform/errors.ts";
import { runInTurns } from "../../../platform/steps.ts";
import type { Identity } from "../../identity/service.ts";
import { type FacetQuery, readFacetQuery } from "../../shared/facet-users.ts";
import type { Page } from "../../shared/page.ts";
import type { ErasedRows, OutsideData, Person } from "../../shared/personal-data.ts";
import { dayOf } from "../usage/model.ts";
import { hasUsageSince } from "../usage/store.ts";
import { FileSource } from "./file-source.ts";
import type { LogArchive } from "./log-archive.ts";
import { asLogFileError, openExistingLog } from "./log-file-store.ts";
import type { FoundRows, Gap, LogFigures, SeenValues } from "./model.ts";
import { type LogQuery, readLogQuery, refuse, retentionStartMs } from "./query.ts";
import type { RequestRow } from "./record.ts";
import type { Bucket, SummaryFound } from "./summary/model.ts";
import { type CheckedSummary, readSummaryQuery, type SummaryQuery } from "./summary/summary-query.ts";
import type { Figures } from "./summary/tally.ts";
import type { RowView } from "./wire.ts";
import { eraseSomeOfUser } from "./writing/rows-store.ts";
import type { LogSource, ServiceLog } from "./writing/running-log.ts";

/** Shown in place of a removed user's address. */
export const REMOVED_ADDRESS = "removed@invalid";

export interface RequestLogOptions {
  file: string;
  retentionDays: number;
  /** the log of a running service; without it the file itself is read */
  service?: ServiceLog | undefined;
  /** undefined unless an S3-compatible store is configured */
  archive?: LogArchive | undefined;
}

export interface RequestLogsDependencies extends RequestLogOptions {
  db: Db;
  clock: Clock;
  identity: Pick<Identity, "users" | "findUserById">;
}

export interface RequestLogView extends Page<RowView> {
  /** whether there are more rows than `total` */
  isCapped: boolean;
  gaps: readonly Gap[];
}

interface NamedFigures {
  name: string;
  figures: Figures;
}

/** A summary with the current addresses of users. */
export interface SummaryView extends Pick<SummaryFound, "totals" | "points"> {
  bucket: Bucket;
  /** UTC milliseconds: beginning of the first point, end of the last point */
  fromMs: number;
  endMs: number;
  models: readonly NamedFigures[];
  users: readonly (NamedFigures & { email: string })[];
}

export interface LogFacets extends SeenValues {
  users: { id: string; email: string }[];
}

export class RequestLogs implements OutsideData {
  /** the file, for commands */
  readonly file: FileSource;
  /** receives exported days; see RequestLogOptions */
  readonly archive: LogArchive | undefined;
  readonly #source: LogSource;

  constructor(private readonly dependencies: RequestLogsDependencies) {
    this.file = new FileSource(dependencies.file);
    this.archive = dependencies.archive;
    this.#source = dependencies.service ?? this.file;
  }

  /** @throws DomainError `request_log.invalid`, `request_log.too_slow`, `request_log.busy`, `storage.*` */
  async list(query: LogQuery): Promise<RequestLogView> {
    const { search, ...page } = readLogQuery(query, this.keptFromMs());
    return this.#pageOf(page, await this.#source.search(search));
  }

  /** `list` in one turn, for commands. */
  listNow(query: LogQuery): RequestLogView {
    const { search, ...page } = readLogQuery(query, this.keptFromMs());
    return this.#pageOf(page, this.file.searchNow(search));
  }

  /**
   * @returns figures of finished requests: for all, for each hour or day, and by model or user
   * @throws DomainError `request_log.invalid`, `request_log.too_slow`, `request_log.busy`, `storage.*`
   */
  async summary(query: SummaryQuery): Promise<SummaryView> {
    const checked = this.#checked(query);
    return this.#summaryOf(checked, await this.#source.summarize(checked.search));
  }

  /** `summary` in one turn, for commands. */
  summaryNow(query: SummaryQuery): SummaryView {
    const checked = this.#checked(query);
    return this.#summaryOf(checked, this.file.summarizeNow(checked.search));
  }

  #checked(query: SummaryQuery): CheckedSummary {
    return readSummaryQuery(query, { nowMs: this.dependencies.clock.nowMs(), keptFromMs: this.keptFromMs() });
  }

  #summaryOf({ bucket, search }: CheckedSummary, { totals, points, groups }: SummaryFound): SummaryView {
    const [fromMs = search.endMs] = search.points;
    const users = groups.user.map((group) => ({ ...group, email: this.addressOf(group.name) }));
    return { bucket, fromMs, endMs: search.endMs, totals, points, models: groups.model, users };
  }

  /**
   * @returns values of rows that have not expired; up to FACET_USERS_MAX users, the selected one first
   * @throws DomainError `request_log.invalid`
   */
  async facets(organizationId: string, query: FacetQuery): Promise<LogFacets> {
    const problems: Problem[] = [];
    const { q, selectedId } = readFacetQuery(query, problems);
    refuse(problems);
    const fromMs = this.keptFromMs();
    // Every row counts as usage, so the usage table lists all users with rows.
    const wanted = { isAmong: hasUsageSince(dayOf(fromMs)), q, selectedId };
    const users = await runInTurns(this.dependencies.identity.users.commonNames(organizationId, wanted));
    return {
      users: users
        .filter(({ id, status }) => status !== "removed" || id === selectedId)
        .map(({ id }) => ({ id, email: this.addressOf(id) })),
      ...(await this.#source.seen(fromMs)),
    };
  }

  /** @returns facts for `doctor` and `status` */
  async figures(): Promise<LogFigures> {
    return await this.#source.figures(this.keptFromMs());
  }

  /** @returns UTC milliseconds before which rows have expired */
  keptFromMs(): number {
    return retentionStartMs(this.dependencies.clock.nowMs(), this.dependencies.retentionDays);
  }

  /** @returns the row with the current address of its user */
  viewOf(row: RequestRow): RowView {
    return { ...row, userEmail: this.addressOf(row.userId) };
  }

  /** @returns the number of rows of a user */
  count({ userId }: Person): ErasedRows {
    if (userId === undefined) return {};
    return { request_log_rows: this.file.read((reader) => reader.countOf(userId)) ?? 0 };
  }

  /** Deletes all rows of a user, in small transactions. @throws DomainError `storage.*` */
  erase({ userId }: Person): ErasedRows {
    return userId === undefined ? {} : { request_log_rows: this.#eraseRowsOf(userId) };
  }

  #eraseRowsOf(userId: string): number {
    const database = openExistingLog(this.dependencies.file);
    if (!database) return 0;
    try {
      let erased = 0;
      for (let some = 1; some > 0; erased += some) some = eraseSomeOfUser(database, userId);
      return erased;
    } catch (error) {
      throw asLogFileError(error);
    } finally {
      database.close();
    }
  }

  #pageOf(page: { page: number; perPage: number }, found: FoundRows): RequestLogView {
    const { items, total, isCapped, gaps } = found;
    return { ...page, items: items.map((row) => this.viewOf(row)), total, isCapped, gaps };
  }

  /** @returns the current address of a user */
  addressOf(userId: string): string {
    const user = this.dependencies.identity.findUserById(this.dependencies.db.read, userId);
    return user === undefined || user.status === "removed" ? REMOVED_ADDRESS : user.email;
  }
}
