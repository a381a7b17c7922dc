// `gateway models list` and `gateway models refresh`.

import { ListingError } from "../../../src/domain/gateway/service.ts";
import { MODEL_STATES } from "../../../src/domain/inference/models/model.ts";
import type { ModelCatalogView, ModelView } from "../../../src/domain/inference/models/view.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { colorOf } from "../../output/color.ts";
import type { Column } from "../../output/table.ts";

const dateIn = (time: string | null): Date | null => (time === null ? null : new Date(time));

const MODEL_COLUMNS: readonly Column<ModelView>[] = [
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
function warnOfCatalog({ output }: Pick<Call, "output">, { sync, assignments }: ModelCatalogView): void {
  if (output.isJson) return;
  if (sync.discovery_supported === false)
    output.note("the provisioner cannot list models, so only assigned ones are known");
  else if (sync.last_refresh_at === null) output.note("the models have not been refreshed yet");
  if (sync.latest_error !== null) output.warning(`the last refresh failed: ${sync.latest_error}`);
  else if (sync.stale)
    output.warning(
      `the models were last refreshed at ${sync.last_successful_refresh_at}; is a service running?`,
    );
  if (assignments === "incomplete")
    output.note("an allowed agent has no models, so workstations do not get the lists yet");
}

export async function list(call: Call): Promise<void> {
  const { domain, actor, output, text } = call;
  const { models, ...catalog } = domain.modelCatalog.view(actor.organizationId);
  const state = MODEL_STATES.find((name) => name === text("state"));
  const shown = models.filter((model) => state === undefined || model.state === state);
  warnOfCatalog(call, { models, ...catalog });
  output.list(shown, { columns: MODEL_COLUMNS, json: (model) => model, empty: "no models" }, catalog);
}

export async function refresh(call: Call): Promise<void> {
  const { domain, actor, output } = call;
  const result = await domain.modelCatalog.refreshFor(actor).catch((error: unknown) => {
    throw error instanceof ListingError ? withDiagnosis(error) : error;
  });
  const { sync, models } = domain.modelCatalog.view(actor.organizationId);
  const document = { added: null, changed: null, removed: null, ...result, models: models.length, sync };
  if (result.result === "refreshed") {
    const { added, changed, removed } = result;
    return output.result(document, `refreshed: ${added} added, ${changed} changed, ${removed} removed`);
  }
  const reasons = {
    unsupported: "the provisioner cannot list models",
    superseded: "a later refresh was stored first",
  };
  output.result(document, `unchanged: ${reasons[result.result]}`);
}

/** The diagnosis is in no log here: the command asked the gateway itself. */
const withDiagnosis = (error: ListingError): DomainError =>
  new DomainError(error.kind, error.reason, `the models were not refreshed: ${error.diagnosis}`, {
    cause: error,
  });
