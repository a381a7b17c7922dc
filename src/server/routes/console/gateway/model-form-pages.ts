// The form of the console that assigns models to an agent, in the draft of the reader.
import type { Domain } from "../../../../domain/domain.ts";
import { defaultModelOf, modelsOf, readHarnessKey } from "../../../../domain/governance/service.ts";
import type { HarnessKey } from "../../../../domain/harnesses/harnesses.ts";
import { DomainError } from "../../../../platform/errors.ts";
import type { Console, Done } from "../../../console/console.ts";
import type { ConsolePage } from "../../../console/frame/frame.tsx";
import type { Fields } from "../../../console/frame/kept-fields.tsx";
import {
  type AssignmentEntry,
  type AssignmentPageProps,
  assignmentPage,
  MODEL_FIELD,
} from "../../../console/gateway/assignment-page.tsx";
import { MODELS_PATH } from "../../../console/gateway/words.ts";
import { withoutReturns } from "../../../console/long-form.ts";
import { statedIn, versionText } from "../../../console/parts/stated-version.ts";
import { REVIEW_PATH } from "../../../console/policy/words.ts";
import type { Reader } from "../../../console/reader.ts";
import { formOperation, pageRoute, uploadRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { modelsOff, readModels } from "./model-pages.ts";

export function gatewayModelFormPages({ router, domain }: RouteContext, console: Console) {
  const path = `${MODELS_PATH}/harnesses/:harness`;
  return router
    .get(
      path,
      ({ request, params }) =>
        console.show(
          request,
          "administrator",
          (reader) =>
            modelsOff(console, reader) ?? pageOf(domain, reader, { harness: readHarnessKey(params.harness) }),
        ),
      pageRoute("showGatewayModelAssignment", "The models of one agent, and the form to change them"),
    )
    .post(
      path,
      ({ request, params }) =>
        console.actLong(
          request,
          { needs: "administrator", back: `${MODELS_PATH}/harnesses/${params.harness}` },
          async (reader, fields) =>
            modelsOff(console, reader) ??
            (await save(domain, reader, { harness: readHarnessKey(params.harness), fields })),
        ),
      uploadRoute(formOperation("sendGatewayModelAssignment", "Assigns models to an agent in the draft")),
    );
}

/** @param shown what the page shows instead of the draft */
function pageOf(
  domain: Domain,
  reader: Reader,
  shown: Pick<AssignmentPageProps, "harness" | "error"> &
    Partial<Omit<AssignmentPageProps, "typed">> & { isStale?: boolean },
): ConsolePage {
  const { view, draft } = readModels(domain, reader);
  const policy = draft.document.harnesses[shown.harness];
  const saved = { models: modelsOf(policy), defaultModel: defaultModelOf(policy) ?? null };
  const { isStale, ...entered } = shown;
  const other = isStale ? saved : undefined;
  return assignmentPage({
    entry: saved,
    models: view.models,
    version: versionText(draft),
    typed: { ...draft.typed, harnesses: {} },
    other,
    ...entered,
  });
}

async function save(
  domain: Domain,
  reader: Reader,
  { harness, fields }: { harness: HarnessKey; fields: Fields },
): Promise<ConsolePage | Done> {
  const { drafts, deployments, revisions } = domain.governance;
  // A draft needs a base revision, so the first one is published here as at a start.
  if (!revisions.current(reader.organizationId)) await deployments.apply(reader.actor, undefined);
  const standing = modelsOf(drafts.ownOrNew(reader.actor).document.harnesses[harness]);
  const entry = entryIn(fields, standing);
  const input = { harness, gatewayModels: entry.models, defaultModel: entry.defaultModel };
  try {
    await drafts.saveModels(reader.actor, statedIn(fields.version), input);
    return { to: REVIEW_PATH, notice: "The draft is saved. Nothing is published yet." };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    if (error.reason === "governance.invalid")
      return pageOf(domain, reader, { harness, entry, problems: error.problems });
    if (error.reason === "policy_draft.changed")
      return pageOf(domain, reader, { harness, entry, isStale: true });
    if (error.reason.startsWith("policy_draft."))
      return pageOf(domain, reader, { harness, entry, error: error.message });
    throw error;
  }
}

/** @returns the values of the form: models that were assigned before keep their order, and new ones follow */
function entryIn(fields: Fields, standing: readonly string[]): AssignmentEntry {
  const boxes = Object.entries(fields).flatMap(([name, value]) =>
    name.startsWith(MODEL_FIELD) && value !== undefined ? [value] : [],
  );
  const typed = withoutReturns(fields.others ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const chosen = new Set([...boxes, ...typed]);
  const models = [...standing.filter((id) => chosen.has(id)), ...chosen.difference(new Set(standing))];
  return { models, defaultModel: fields.default?.trim() || null };
}
