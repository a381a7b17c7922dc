// Opens the data directory for one command and closes it again, whatever happens. The command acts as the operator.

import type { Domain } from "../../src/domain/domain.ts";
import type { Actor } from "../../src/domain/shared/actor.ts";
import type { Config } from "../../src/platform/config/config.ts";
import { accountName } from "../../src/platform/data-directory/owner.ts";
import type { MigrateResult } from "../../src/platform/database/schema/migrate.ts";
import type { Context } from "../context.ts";

export interface Opened {
  domain: Domain;
  /** the operator */
  actor: Actor;
  /** see Db.hold */
  moment(): Disposable;
  /** opening may have brought the database to another one */
  schema: MigrateResult;
}

/**
 * @param work is done while it is open
 * @throws DomainError `data_dir.*`, `schema.*`, `storage.*`, and whatever `work` throws
 */
export async function withDomain<T>(
  context: Context,
  config: Config,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  const { openExisting } = await import("../../src/app/installation/installation.ts");
  const { configuredOrigin, originForLinks } = await import("../../src/app/installation/origin.ts");
  const { clock, ids, passwordCost, runId } = context;
  const label = operatorName(context);
  const baseUrl = () => originForLinks(config) ?? configuredOrigin(config) ?? "";
  const installation = await openExisting({ config, clock, ids, passwordCost, baseUrl });
  const { domain, organizationId, schema } = installation;
  try {
    const actor: Actor = { kind: "operator", id: null, label, organizationId, requestId: runId };
    return await work({ domain, actor, schema, moment: () => installation.db.hold() });
  } finally {
    await installation.close();
  }
}

/** The audit log names the login of whoever ran the command, and who that was before `sudo`. */
export const operatorName = ({ env, userId }: Pick<Context, "env" | "userId">): string =>
  env.SUDO_USER ?? accountName(userId) ?? `uid ${userId}`; // a container may run a user id without a name
