// `policy check` and `policy apply`: validates or publishes a policy file. References in the file to environment variables use the
// environment of this command.
import { resolve } from "node:path";
import { DOCUMENT_BYTES_MAX } from "../../../src/domain/governance/model.ts";
import type { DocumentPlan, DocumentSource } from "../../../src/domain/governance/service.ts";
import { countText } from "../../../src/platform/count-text.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { readFile } from "../../../src/platform/files/operator-files.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { withFileContext } from "../../exit.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { changeLines, numberText, revisionDocument } from "./view.ts";

/** @throws DomainError `governance.invalid`; each problem has its line */
export async function check(call: Call): Promise<void> {
  const { domain, actor, output, args } = call;
  const [file = ""] = args;
  await withFileContext(file, async () => {
    const source = await sourceOf(call, file);
    const { changes, warnings } = domain.governance.documents.plan(actor.organizationId, source);
    warnOf(call, warnings);
    const count = countText(changes.length, "place");
    const effect = changes.length === 0 ? "it would change nothing" : `it would change ${count}`;
    output.result({ valid: true, changes, warnings }, `${file} is valid; ${effect}`);
  });
}

export async function apply(call: Call): Promise<void> {
  const { domain, actor, context, command, output, args, text } = call;
  const [file = ""] = args;
  const plan = await withFileContext(file, async () =>
    domain.governance.documents.plan(actor.organizationId, await sourceOf(call, file)),
  );
  assertBaseRevision(call, plan);
  warnOf(call, plan.warnings);
  if (plan.changes.length === 0) {
    const same = `unchanged: the file matches ${numberText(plan.base)}`;
    return output.result(
      { changed: false, ...revisionDocument(plan.base), changes: [], warnings: plan.warnings },
      same,
    );
  }
  const wanted = {
    action: `publish a policy after ${numberText(plan.base)}`,
    details: changeLines(plan.changes),
  };
  if (!(await isConfirmed(context, command, wanted))) return;
  const revision = await domain.governance.documents.apply(actor, plan, { comment: text("comment") });
  output.result(
    { changed: true, ...revisionDocument(revision), changes: plan.changes, warnings: plan.warnings },
    [...changeLines(plan.changes), `published ${numberText(revision)}`].join("\n"),
  );
}

/** Prints the warnings for people; the JSON document contains them already. */
function warnOf({ output }: Call, warnings: DocumentPlan["warnings"]): void {
  if (!output.isJson) for (const { pointer, detail } of warnings) output.warning(`${pointer} ${detail}`);
}

/** @returns the file as a document; its references use the environment of this command */
export async function sourceOf({ context, config }: Call, file: string): Promise<DocumentSource> {
  const text = await readFile(resolve(context.cwd, file), DOCUMENT_BYTES_MAX);
  return { text, variable: (name) => config.variable(name) };
}

/** @throws DomainError `governance.stale_revision` */
function assertBaseRevision({ domain, actor, text }: Call, { base }: DocumentPlan): void {
  const reference = text("base");
  if (reference === undefined) return;
  const { id } = domain.governance.revisions.named(actor.organizationId, reference);
  if (id === base.id) return;
  throw new DomainError(
    "conflict",
    "governance.stale_revision",
    `the current policy is ${numberText(base)}`,
    {
      hint: `to see what changed: quartermaster policy diff ${reference}`,
    },
  );
}
