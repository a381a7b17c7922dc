// SQL of a statement's organization, whose id is bound as `organizationId`.
import { eq, type SQL, sql } from "drizzle-orm";
import { scimGroups, scimOrganizations, scimUserRevisions, scimUsers } from "./tables.ts";

export const ORGANIZATION = sql.placeholder("organizationId");

/** NULL if the organization never had a provisioned user */
export const ORGANIZATION_NUMBER: SQL = sql`(SELECT ${scimOrganizations.number} FROM ${scimOrganizations}
  WHERE ${scimOrganizations.organizationId} = ${ORGANIZATION})`;

/** Indexed conditions on rows. */
export const IS_OWN_USER = eq(scimUsers.organizationId, ORGANIZATION);
export const IS_OWN_GROUP = eq(scimGroups.organizationId, ORGANIZATION);
export const IS_OWN_REVISION: SQL = sql`${scimUserRevisions.organizationNumber} = ${ORGANIZATION_NUMBER}`;
