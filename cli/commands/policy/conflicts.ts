// `policy conflicts list`, `keep` and `take`: places where the policy does not follow the configuration file.
import type { FileConflict } from "../../../src/domain/governance/deployment/file-values.ts";
import { countText } from "../../../src/platform/count-text.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { changeLines, numberText, revisionDocument, valueText } from "./view.ts";

const sideText = (conflict: FileConflict, side: "policy" | "file"): string =>
  side in conflict ? valueText(conflict[side]) : "not set";

const linesOf = (conflict: FileConflict): string[] => [
  conflict.path,
  `  in force:  ${sideText(conflict, "policy")}`,
  `  in file:   ${sideText(conflict, "file")}`,
];

export async function list({ domain, actor, output }: Call): Promise<void> {
  const found = await domain.governance.fileConflicts.list(actor.organizationId);
  const { conflicts } = found;
  const lines =
    conflicts.length === 0 ? ["no conflicts with the configuration file"] : conflicts.flatMap(linesOf);
  output.result({ ...found }, lines.join("\n"));
}

export async function keep({ domain, actor, context, command, output, args }: Call): Promise<void> {
  const { fileConflicts } = domain.governance;
  const { version, conflicts } = await fileConflicts.show(actor.organizationId, args);
  const places = countText(conflicts.length, "place");
  const wanted = { action: `keep the values in force at ${places}`, details: conflicts.flatMap(linesOf) };
  if (!(await isConfirmed(context, command, wanted))) return;
  await fileConflicts.keep(actor, { version, paths: args });
  output.result({ kept: conflicts }, `kept the values in force at ${places}`);
}

export async function take(call: Call): Promise<void> {
  const { domain, actor, context, command, output, args, text } = call;
  const { documents, fileConflicts } = domain.governance;
  const plan = await fileConflicts.plan(actor, args);
  const { changes } = plan;
  const wanted = { action: `publish a policy after ${numberText(plan.base)}`, details: changeLines(changes) };
  if (!(await isConfirmed(context, command, wanted))) return;
  const revision = await documents.apply(actor, plan, { comment: text("comment") });
  const lines = [...changeLines(changes), `published ${numberText(revision)}`];
  output.result({ changed: true, ...revisionDocument(revision), changes }, lines.join("\n"));
}
