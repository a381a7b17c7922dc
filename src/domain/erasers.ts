// The erasers of all areas, which remove a user's data from the database.
import type { Ids } from "../platform/ids.ts";
import { eraseLogins } from "./access/erase.ts";
import { Redactions } from "./audit/redactions.ts";
import type { Audit } from "./audit/service.ts";
import { eraseClients } from "./clients/erase.ts";
import { erasePreferences } from "./console/erase.ts";
import { createEraseKeys } from "./gateway/erase.ts";
import { eraseAuthor } from "./governance/erase.ts";
import { eraseResponses } from "./idempotency/erase.ts";
import { createEraseUser } from "./identity/erase.ts";
import type { createRecords } from "./inference/records.ts";
import { eraseUsage } from "./inference/usage/usage-retention.ts";
import { eraseProvisioning } from "./scim/erase.ts";
import { eraseSessions } from "./sessions/erase.ts";
import type { ErasePersonalData } from "./shared/personal-data.ts";
import { eraseIdentities } from "./sso/erase.ts";

/** Ordered by references: the user's row is last, because other rows refer to it. */
const erasersOf = (machine: { ids: Ids; audit: Audit }): readonly ErasePersonalData[] => [
  createEraseKeys(machine),
  eraseClients,
  eraseResponses,
  erasePreferences,
  eraseAuthor,
  eraseProvisioning,
  eraseLogins,
  eraseUsage,
  eraseIdentities,
  eraseSessions,
  createEraseUser(machine),
];

/** The parts of an erasure: the audit log, the rows of all areas, and data outside the database. */
export const personalDataOf = (
  machine: ConstructorParameters<typeof Redactions>[0] & { ids: Ids; audit: Audit },
  { requestLogs }: Pick<ReturnType<typeof createRecords>, "requestLogs">,
) => ({ log: new Redactions(machine), areas: erasersOf(machine), outside: [requestLogs] });
