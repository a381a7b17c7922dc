// Opens the data directory for one command and always closes it. The command acts as the operator.

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
  /** starts a read snapshot; see Db.hold */
  moment(): Disposable;
  /** schema before and after opening, which may upgrade the database */
  schema: MigrateResult;
}

/**
 * @param work runs while the data directory is open
 * @throws DomainError `data_dir.*`, `schema.*`, `storage.*`, and the errors of `work`
 */
export async function withDomain<T>(
  context: Context,
  config: Config,
  work: (opened: Opened) => Promise<T>,
  options: { mustNotUpgrade?: boolean } = {},
): Promise<T> {
  const { openExisting } = await import("../../src/app/installation/installation.ts");
  const { configuredOrigin, originForLinks } = await import("../../src/app/installation/origin.ts");
  const { clock, ids, passwordCost, runId } = context;
  const label = operatorName(context);
  const baseUrl = () => originForLinks(config) ?? configuredOrigin(config) ?? "";
  const installation = await openExisting({ config, clock, ids, passwordCost, baseUrl, ...options });
  const { domain, organizationId, schema } = installation;
  try {
    const actor: Actor = { kind: "operator", id: null, label, organizationId, requestId: runId };
    return await work({ domain, actor, schema, moment: () => installation.db.hold() });
  } finally {
    await installation.close();
  }
}

/** @returns the name for the audit log: the user who ran the command, or who called `sudo` */
export const operatorName = ({ env, userId }: Pick<Context, "env" | "userId">): string =>
  env.SUDO_USER ?? accountName(userId) ?? `uid ${userId}`; // a container may run a user id without a name
