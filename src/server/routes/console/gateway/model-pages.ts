// The models of the gateway in the console: the list and its file, a refresh, and one model, which may be acknowledged.
import type { Domain } from "../../../../domain/domain.ts";
import type { Draft } from "../../../../domain/governance/service.ts";
import { HARNESS_KEYS } from "../../../../domain/harnesses/harnesses.ts";
import { MODEL_STATES } from "../../../../domain/inference/models/model.ts";
import type { ModelCatalogView, ModelView } from "../../../../domain/inference/models/view.ts";
import { type Page, readPageQuery, readWord, refuseProblems } from "../../../../domain/shared/page.ts";
import { DomainError, type Problem } from "../../../../platform/errors.ts";
import { quoted } from "../../../../platform/text/problem-list.ts";
import type { Console, Done } from "../../../console/console.ts";
import type { ConsolePage } from "../../../console/frame/frame.tsx";
import { featureOffPage } from "../../../console/frame/refusals.tsx";
import { MODEL_COLUMNS, modelListPage } from "../../../console/gateway/model-list.tsx";
import { modelPage } from "../../../console/gateway/model-page.tsx";
import { MODEL_PATH, MODELS_PATH, modelPath, REFRESH_PATH } from "../../../console/gateway/words.ts";
import { csvRoute } from "../../../console/list/csv.ts";
import { found, lastPageAddress, listValues, placeIn, type Values } from "../../../console/list/list.ts";
import type { Reader } from "../../../console/reader.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute, seeOther } from "../../../pages/html.ts";
import { asSentence } from "../../../pages/words.ts";
import type { RouteContext } from "../../../router.ts";
import { exportResponse } from "../lists/list-export.ts";

const PLAIN = formOf({ csrf: FormField, by: FormField });
const ACKNOWLEDGED = formOf({ csrf: FormField, by: FormField, fingerprint: FormField });

/** @returns the error page without gateway mode, where pages about models do not exist */
export const modelsOff = (console: Console, reader: Reader): ConsolePage | undefined =>
  console.has("gateway") ? undefined : featureOffPage("Models", { setting: "gateway.type", reader });

/** @returns the models, with the assignments of the reader's draft, or of the policy in force without one */
export function readModels(
  { governance: { drafts }, modelCatalog }: Domain,
  { actor, organizationId }: Reader,
): { view: ModelCatalogView; draft: Draft } {
  const draft = drafts.ownOrFirst(actor);
  const view = modelCatalog.view(organizationId, { id: draft.baseRevision, document: draft.document });
  return { view, draft };
}

export function gatewayModelPages(context: RouteContext, console: Console) {
  oneModelPages(context, console);
  const { router, domain } = context;
  const refresh = async ({ actor }: Reader): Promise<Done> => {
    const notice = await refreshed(domain, actor);
    return { to: MODELS_PATH, notice };
  };

  return router
    .get(
      MODELS_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) => {
          const off = modelsOff(console, reader);
          if (off) return off;
          const { view, draft } = readModels(domain, reader);
          const { rows, problems } = await found(() => listed(view, listValues(reader)));
          const last = rows && lastPageAddress(reader, rows);
          if (last !== undefined) return seeOther(last);
          return modelListPage({ view, page: rows, problems, isDraft: draft.version > 0 });
        }),
      pageRoute("showGatewayModels", "Models of the gateway as a list"),
    )
    .get(
      `${MODELS_PATH}.csv`,
      ({ request }) =>
        console.show(request, "administrator", (reader) => {
          const off = modelsOff(console, reader);
          if (off) return off;
          const { items } = matching(readModels(domain, reader).view, listValues(reader));
          return exportResponse(domain, reader, { list: "models", columns: MODEL_COLUMNS, pages: [items] });
        }),
      csvRoute("downloadGatewayModels", "Models of the gateway as a CSV file"),
    )
    .post(
      REFRESH_PATH,
      ({ request, body }) =>
        console.act(
          request,
          body,
          { needs: "administrator", back: MODELS_PATH },
          async (reader) => modelsOff(console, reader) ?? (await refresh(reader)),
        ),
      formRoute(PLAIN, formOperation("sendGatewayModelRefresh", "Fetches the models from the gateway")),
    );
}

function oneModelPages({ router, domain }: RouteContext, console: Console) {
  return router
    .get(
      MODEL_PATH,
      ({ request }) =>
        console.show(
          request,
          "administrator",
          (reader) => modelsOff(console, reader) ?? modelPage(modelOf(domain, reader)),
        ),
      pageRoute("showGatewayModel", "One model of the gateway"),
    )
    .post(
      MODEL_PATH,
      ({ request, body }) =>
        console.act(
          request,
          body,
          { needs: "administrator", back: MODELS_PATH },
          async (reader) =>
            modelsOff(console, reader) ?? (await acknowledged(domain, reader, body.fingerprint ?? "")),
        ),
      formRoute(ACKNOWLEDGED, formOperation("sendGatewayModelAcknowledgement", "Accepts a changed model")),
    );
}

/** @returns the result of the refresh; the message of a gateway failure appears beside the state of discovery */
async function refreshed(
  { modelCatalog }: Domain,
  actor: Reader["actor"],
): Promise<NonNullable<Done["notice"]>> {
  try {
    const { result } = await modelCatalog.refreshFor(actor);
    if (result === "unsupported")
      return { kind: "attention", text: "The provisioner cannot list models. Enter their ids yourself." };
    return "The list of models is refreshed.";
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { kind: "attention", text: asSentence(error.message) };
  }
}

async function acknowledged(
  domain: Domain,
  reader: Reader,
  fingerprint: string,
): Promise<Done | ConsolePage> {
  const model = modelOf(domain, reader);
  try {
    await domain.modelCatalog.acknowledge(reader.actor, { modelId: model.id, fingerprint });
    return { to: modelPath(model.id), notice: "The model is acknowledged." };
  } catch (error) {
    if (!(error instanceof DomainError) || error.kind !== "conflict") throw error;
    return modelPage(model, `${asSentence(error.message)} Its figures are below.`);
  }
}

/** @throws DomainError `gateway.model_not_found` */
function modelOf(domain: Domain, reader: Reader): ModelView {
  const id = reader.url.searchParams.get("id") ?? "";
  const model = readModels(domain, reader).view.models.find((one) => one.id === id);
  if (model) return model;
  throw new DomainError(
    "not_found",
    "gateway.model_not_found",
    `the gateway never offered a model ${quoted(id)}`,
  );
}

/** @throws DomainError `gateway.invalid` */
function matching({ models }: ModelCatalogView, values: Values) {
  const problems: Problem[] = [];
  const state = readWord(values.state, { name: "state", words: MODEL_STATES, problems });
  const harness = readWord(values.harness, { name: "harness", words: HARNESS_KEYS, problems });
  const query = readPageQuery({ q: values.q, ...placeIn(values) }, problems);
  refuseProblems("gateway.invalid", problems);
  const text = (query.q ?? "").toLowerCase();
  const items = models.filter(
    (model) =>
      [model.id, model.display_name].some((one) => one?.toLowerCase().includes(text)) &&
      (state === undefined || model.state === state) &&
      (harness === undefined || model.assigned_to.includes(harness)),
  );
  return { items, query };
}

function listed(view: ModelCatalogView, values: Values): Page<ModelView> {
  const { items, query } = matching(view, values);
  const { page, perPage } = query;
  return { items: items.slice((page - 1) * perPage, page * perPage), page, perPage, total: items.length };
}
