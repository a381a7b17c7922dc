// SQL for the model catalog. model.ts defines how rows change.
import { asc, getTableColumns } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { equalAll, insertAll, overwriteAll } from "../../../platform/database/drizzle.ts";
import type { ModelRow, SyncRow } from "./model.ts";
import { gatewayModelSync, gatewayModels } from "./tables.ts";

/** More than the total of one list, the removed models and the assigned models. */
const ROWS_MAX = 20_000;

const ofModel = equalAll(gatewayModels, "organizationId", "id");

const all = statement((connection) =>
  connection
    .select()
    .from(gatewayModels)
    .where(equalAll(gatewayModels, "organizationId"))
    .orderBy(asc(gatewayModels.id))
    .limit(ROWS_MAX)
    .prepare(),
);

/** @returns every model that was ever listed, ordered by id */
export const listModels = (connection: Connection, organizationId: string): ModelRow[] =>
  all(connection).all({ organizationId });

const one = statement((connection) =>
  connection.select().from(gatewayModels).where(ofModel).limit(1).prepare(),
);

export const findModel = (connection: Connection, organizationId: string, id: string): ModelRow | undefined =>
  one(connection).get({ organizationId, id });

const { organizationId: _organization, id: _id, ...changeable } = getTableColumns(gatewayModels);

const upsert = statement((connection) =>
  connection
    .insert(gatewayModels)
    .values(insertAll(gatewayModels))
    .onConflictDoUpdate({
      target: [gatewayModels.organizationId, gatewayModels.id],
      set: overwriteAll(changeable),
    })
    .prepare(),
);

/** Inserts the row, or replaces the stored row of the same model. */
export const putModel = (tx: Tx, row: ModelRow): void => void upsert(tx).run(row);

const remove = statement((connection) => connection.delete(gatewayModels).where(ofModel).prepare());

export const removeModel = (tx: Tx, { organizationId, id }: Pick<ModelRow, "organizationId" | "id">): void =>
  void remove(tx).run({ organizationId, id });

const syncOf = statement((connection) =>
  connection
    .select()
    .from(gatewayModelSync)
    .where(equalAll(gatewayModelSync, "organizationId"))
    .limit(1)
    .prepare(),
);

/** @returns the state of refreshing; undefined before the first refresh */
export const findSync = (connection: Connection, organizationId: string): SyncRow | undefined =>
  syncOf(connection).get({ organizationId });

const { organizationId: _of, ...changeableSync } = getTableColumns(gatewayModelSync);

const upsertSync = statement((connection) =>
  connection
    .insert(gatewayModelSync)
    .values(insertAll(gatewayModelSync))
    .onConflictDoUpdate({ target: gatewayModelSync.organizationId, set: overwriteAll(changeableSync) })
    .prepare(),
);

export const putSync = (tx: Tx, row: SyncRow): void => void upsertSync(tx).run(row);
