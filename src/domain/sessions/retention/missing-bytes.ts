// After a restore, finds versions whose file is missing, because the backup may have no session bytes, and retention may have
// removed files since then.
import type { Actor } from "../../shared/actor.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { RETENTION_BATCH_ROWS } from "../limits.ts";
import { markLost } from "../objects/lost-store.ts";
import { countLost, listStored } from "./retention-store.ts";

export interface MissingBytes {
  /** number of sessions whose current version has no bytes here, including those already lost */
  sessions: number;
  /** number of versions in an object store, which is not checked */
  elsewhere: number;
}

/**
 * Marks as lost each version of the local store whose file is missing or has another size, with one audit entry for all.
 * @param sizeOf returns the size of a digest's file in bytes; undefined if there is none
 */
export async function recordMissingBytes(
  { db, clock, audit }: Pick<SessionsDependencies, "db" | "clock" | "audit">,
  actor: Actor,
  sizeOf: (digest: string) => number | undefined,
): Promise<MissingBytes> {
  const { organizationId } = actor;
  let [lost, elsewhere] = [0, 0];
  for (let afterId = ""; ; ) {
    const rows = listStored(db.read, { organizationId, afterId, limit: RETENTION_BATCH_ROWS });
    const absent = rows.filter((row) => row.store === "local" && sizeOf(row.place) !== row.sizeBytes);
    lost += await db.write(
      (tx) => absent.filter((row) => markLost(tx, row, clock.nowMs())).length,
      "unobserved",
    );
    elsewhere += rows.filter(({ store }) => store !== "local").length;
    const last = rows.at(-1);
    if (rows.length < RETENTION_BATCH_ROWS || !last) break;
    afterId = last.id;
  }
  const after = { versions: lost, cause: "restore" };
  if (lost > 0)
    await db.write((tx) => {
      audit.record(tx, { actor, action: "captured_session.lose", target: organizationId, after });
    }, "unobserved");
  return { sessions: countLost(db.read), elsewhere };
}
