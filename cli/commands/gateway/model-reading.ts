// `gateway models list` and `gateway models refresh`.

import { MODEL_STATES } from "../../../src/domain/inference/models/model.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { MODEL_COLUMNS, warnOfCatalog } from "./model-view.ts";

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
  const result = await domain.modelCatalog.refreshFor(actor);
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
