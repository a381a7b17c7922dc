// `gateway models acknowledge` and `gateway models assign`: both show their changes before they ask.
import type { ModelsPublication } from "../../../src/domain/governance/publishing/model-assignment.ts";
import { type ModelView, modelDifferences } from "../../../src/domain/inference/models/view.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { printable } from "../../output/printable.ts";
import { changeLines, numberText, revisionDocument, valueText } from "../policy/view.ts";

export async function acknowledge(call: Call): Promise<void> {
  const { domain, actor, context, command, output, text, args } = call;
  const [id = ""] = args;
  const before = find(call, id);
  const fingerprint = text("fingerprint") ?? before?.fingerprint ?? "";
  if (before?.state === "changed") {
    const action = `acknowledge the model ${printable(id)} as it is now`;
    const differences = modelDifferences(before).map(
      ({ figure, before: former, after }) =>
        `${printable(figure)}: ${valueText(former)} -> ${valueText(after)}`,
    );
    const now = [`name: ${valueText(before.display_name)}`, `metadata: ${valueText(before.metadata)}`];
    const details = differences.length > 0 ? differences : now;
    if (!(await isConfirmed(context, command, { action, details }))) return;
  }
  const changed = await domain.modelCatalog.acknowledge(actor, { modelId: id, fingerprint });
  const name = printable(id);
  const done = changed
    ? `acknowledged ${name}`
    : `unchanged: ${name} has not changed since it was acknowledged`;
  output.result({ changed, model: find(call, id) ?? null }, done);
}

const find = ({ domain, actor }: Call, id: string): ModelView | undefined =>
  domain.modelCatalog.view(actor.organizationId).models.find((model) => model.id === id);

export async function assign(call: Call): Promise<void> {
  const { domain, actor, context, command, output } = call;
  const { revisions, publishing } = domain.governance;
  const base = revisions.inForce(actor.organizationId);
  const publication = { ...wishOf(call), baseRevision: baseOf(call) ?? base.id };
  const changes = await publishing.planModels(actor, publication);
  const unchanged = `unchanged: ${numberText(base)} assigns the same`;
  if (changes.length === 0)
    return output.result({ changed: false, ...revisionDocument(base), changes }, unchanged);
  const plan = { action: `publish a policy after ${numberText(base)}`, details: changeLines(changes) };
  if (!(await isConfirmed(context, command, plan))) return;
  const revision = await publishing.publishModels(actor, publication);
  output.result(
    { changed: true, ...revisionDocument(revision), changes },
    [...changeLines(changes), `published ${numberText(revision)}`].join("\n"),
  );
}

/** @throws DomainError `usage.models` unless the command line has either models or `--none` */
function wishOf({ args, has, text, command }: Call): Omit<ModelsPublication, "baseRevision"> {
  const [harness = "", ...gatewayModels] = args;
  if (has("none") === gatewayModels.length > 0) throw unclear(has("none"));
  const { default: chosen }: Record<string, unknown> = command.opts();
  const defaultModel = chosen === false ? null : text("default");
  return { harness, gatewayModels, defaultModel, comment: text("comment") };
}

const unclear = (isNone: boolean): DomainError =>
  new DomainError(
    "invalid",
    "usage.models",
    isNone ? "--none removes the assignment, so no model may be named" : "name at least one model",
    { hint: isNone ? "omit --none, or the models" : "to remove the assignment, pass --none" },
  );

const baseOf = ({ domain, actor, text }: Call): string | undefined => {
  const reference = text("base");
  return reference === undefined
    ? undefined
    : domain.governance.revisions.named(actor.organizationId, reference).id;
};
