// The name of the organization, which users see when they sign in. bootstrap.ts creates the organization.

import { invariant, type Problem } from "../../platform/errors.ts";
import type { Actor } from "../shared/actor.ts";
import type { IdentityDependencies } from "./dependencies.ts";
import { refuseInvalid } from "./errors.ts";
import { readOrganizationName } from "./model.ts";
import * as store from "./store.ts";

/**
 * @returns the stored name
 * @throws DomainError `identity.invalid`
 */
export function checkOrganizationName(given: string): string {
  const problems: Problem[] = [];
  const name = readOrganizationName(given, problems);
  refuseInvalid(problems);
  return name;
}

export const createRename =
  ({ db, audit }: Pick<IdentityDependencies, "db" | "audit">) =>
  /**
   * @returns the previous name; an unchanged name is not recorded
   * @throws DomainError `identity.invalid`
   */
  (actor: Actor, given: string): Promise<string> => {
    const name = checkOrganizationName(given);
    return db.write((tx) => {
      const organization = store.firstOrganization(tx);
      invariant(organization, "a command opens only data that has an organization");
      const { id, name: before } = organization;
      if (name === before) return before;
      store.renameOrganization(tx, { id, name });
      const summaries = { before: { name: before }, after: { name } };
      audit.record(tx, { actor, action: "organization.rename", target: id, ...summaries });
      return before;
    });
  };
