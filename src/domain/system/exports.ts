// Records exports of lists in the audit log: the actor, the list, its filters, and the number of rows.
import type { Db } from "../../platform/database/database.ts";
import type { Audit } from "../audit/service.ts";
import type { Actor } from "../shared/actor.ts";

export interface ListExport {
  /** for example `clients` */
  list: string;
  /** query of the list, as in its URL */
  filter: string;
  /** number of rows sent */
  rows: number;
}

/** @returns the record of exports; called once, in domain.ts */
export const createExports = ({ db, audit }: { db: Db; audit: Audit }) => ({
  /** Records one export after its last row. */
  record: (actor: Actor, { list, filter, rows }: ListExport): Promise<void> =>
    db.write((tx) =>
      audit.record(tx, { actor, action: "list.export", target: list, after: { filter, rows } }),
    ),
});
