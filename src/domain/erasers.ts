// The erasers of each area: they remove a person from the database.
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

/** In the order in which rows may be deleted: the user is last, because others refer to it. */
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

/** Where personal data is. */
export const personalDataOf = (
  machine: ConstructorParameters<typeof Redactions>[0] & { ids: Ids; audit: Audit },
  { requestLogs }: Pick<ReturnType<typeof createRecords>, "requestLogs">,
) => ({ log: new Redactions(machine), areas: erasersOf(machine), outside: [requestLogs] });
