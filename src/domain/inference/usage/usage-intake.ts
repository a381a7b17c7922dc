// Adds the sums that this or another process has passed on. A batch that is read again is not added again.
import type { Db } from "../../../platform/database/database.ts";
import type { Identity } from "../../identity/service.ts";
import type { UsageBatch, UsageDelta } from "./model.ts";
import * as store from "./store.ts";

export interface UsageIntakeDependencies {
  db: Db;
  identity: Pick<Identity, "organization" | "findUserById">;
}

export class UsageIntake {
  constructor(private readonly dependencies: UsageIntakeDependencies) {}

  /**
   * Adds the sums to the database, unless this batch was the last one. Ignores sums of another organization, and stores the sums of
   * a user who has been erased since without the user's id.
   */
  async take({ batch, deltas }: UsageBatch): Promise<void> {
    const { db, identity } = this.dependencies;
    const organizationId = identity.organization()?.id;
    const ours = deltas.filter((delta) => delta.organizationId === organizationId);
    await db.write((tx) => {
      const userIdOf = ({ userId }: UsageDelta) => (identity.findUserById(tx, userId) ? userId : "");
      if (!store.noteBatch(tx, batch)) return;
      for (const delta of ours) store.addUsage(tx, { ...delta, userId: userIdOf(delta) });
    }, "unobserved");
  }
}
