// Formats models of the gateway as table columns and warnings. Under `--json` a model has the members of the API.
import type { ModelCatalogView, ModelView } from "../../../src/domain/inference/models/view.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { colorOf } from "../../output/color.ts";
import type { Column } from "../../output/table.ts";

const dateIn = (time: string | null): Date | null => (time === null ? null : new Date(time));

export const MODEL_COLUMNS: readonly Column<ModelView>[] = [
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "STATE", value: ({ state }) => state, color: ({ state }) => colorOf(state) },
  { header: "ASSIGNED TO", value: ({ assigned_to }) => assigned_to.join(", ") },
  { header: "LAST SEEN", value: ({ last_seen_at }) => dateIn(last_seen_at) },
  { header: "NAME", value: ({ display_name }) => display_name },
  { header: "FIRST SEEN", value: ({ first_seen_at }) => dateIn(first_seen_at), isWide: true },
  { header: "UNAVAILABLE", value: ({ unavailable_since }) => dateIn(unavailable_since), isWide: true },
  { header: "FINGERPRINT", value: ({ fingerprint }) => fingerprint, isWide: true },
];

/** Warns about problems of the whole list. The JSON document contains them already. */
export function warnOfCatalog(
  { output }: Pick<Call, "output">,
  { sync, assignments }: ModelCatalogView,
): void {
  if (output.isJson) return;
  if (sync.discovery_supported === false)
    output.note("the provisioner cannot list models, so only assigned ones are known");
  else if (sync.last_refresh_at === null) output.note("the models were not refreshed yet");
  if (sync.latest_error !== null) output.warning(`the last refresh failed: ${sync.latest_error}`);
  else if (sync.stale)
    output.warning(
      `the models were refreshed last at ${sync.last_successful_refresh_at}; is a service running?`,
    );
  if (assignments === "incomplete")
    output.note("an allowed agent has no models, so workstations do not get the lists yet");
}
