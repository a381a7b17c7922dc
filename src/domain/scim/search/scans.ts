// Searches that read every resource: one search at a time, in slices with a turn of the event loop between them, from one database
// snapshot. search.ts checks the number of resources first.
import { setImmediate } from "node:timers/promises";
import pLimit from "p-limit";
import type { Connection } from "../../../platform/database/database.ts";
import type { OpenSnapshot } from "../../../platform/database/snapshot.ts";
import { runInTurns, type Steps } from "../../../platform/steps.ts";
import { ScimError } from "../errors.ts";
import type { Shown } from "../messages/render.ts";
import type { ResourceTypeName } from "../wire.ts";
import { renderFound, rowsOver } from "./found-rows.ts";
import { type Collected, foundPage, lastSequence, openFound, prepareCollection } from "./scan-store.ts";

/** Rows per slice. With the maximum number of comparisons in a filter, a slice takes less than half a second. */
export const SLICE_ROWS = 500;
/** Maximum number of waiting scans; further ones are refused. */
export const SCANS_WAITING_MAX = 16;
const RETRY_AFTER_SECONDS = 5;

export interface Scan {
  /** the filter, by type */
  parts: readonly Collected[];
  isDescending: boolean;
  offset: number;
  limit: number;
  shown: Shown;
}

export interface Slice {
  /** all matches */
  total: number;
  /** JSON texts of the matches on the page */
  resources: readonly string[];
}

/** @source SCIM-125 and SCIM-132 */
export class Scans {
  readonly #oneAtATime = pLimit(1);

  constructor(private readonly openSnapshot: OpenSnapshot) {}

  /** @throws ScimError 503 if too many are waiting */
  async run(scan: Scan): Promise<Slice> {
    if (this.#oneAtATime.pendingCount >= SCANS_WAITING_MAX) {
      const detail = "too many searches read every resource; try again soon, or filter with eq on userName";
      throw new ScimError(503, undefined, detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    return await this.#oneAtATime(() => this.#scan(scan));
  }

  async #scan({ parts, shown, ...page }: Scan): Promise<Slice> {
    const { connection, close } = this.openSnapshot();
    try {
      openFound(connection);
      for (const part of parts) await collect(connection, part);
      return await runInTurns(pageOf(connection, page, shown));
    } finally {
      close();
    }
  }
}

function* pageOf(connection: Connection, page: Parameters<typeof foundPage>[1], shown: Shown): Steps<Slice> {
  const { total, found } = foundPage(connection, page);
  const rows = rowsOver(connection);
  const rowsOfType = (wanted: ResourceTypeName) =>
    rows[wanted]
      .ofSequences(found.flatMap(({ type, sequence }) => (type === wanted ? [sequence] : [])))
      .values();
  const byType = { User: rowsOfType("User"), Group: rowsOfType("Group") };
  const ordered = found.flatMap(({ type }) => byType[type].next().value ?? []);
  return { total, resources: yield* renderFound(connection, ordered, shown) };
}

async function collect(connection: Connection, part: Collected): Promise<void> {
  const last = lastSequence(connection, part);
  const collectSlice = prepareCollection(connection, part);
  for (let after = 0; after < last; after += SLICE_ROWS) {
    collectSlice({ after, upTo: after + SLICE_ROWS });
    await setImmediate();
  }
}
