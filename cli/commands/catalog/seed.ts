// `catalog seed`: adds and updates the packages in a file, or shows what that would change.
import { resolve } from "node:path";
import { readCatalogFile } from "../../../src/app/files/catalog-file.ts";
import { isUnchanged, type Seeded, type SeedRequest } from "../../../src/domain/catalog/service.ts";
import { countText } from "../../../src/platform/count-text.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { withFileContext } from "../../exit.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { startProgress } from "../../output/progress.ts";
import { planDocument, planLines, planSummary } from "./plan-text.ts";
import { removalCheck } from "./remove.ts";

/** Seeding computes its plan in its own transaction. A separate plan is made only for a dry run or a confirmation. */
export async function seed(call: Call): Promise<void> {
  const [file = ""] = call.args;
  await withFileContext(file, async () => {
    const request = await requestFor(call, file);
    if (call.has("dryRun")) return printPlan(call, await plan(call, request));
    if (call.has("prune") && !call.has("yes") && !(await mayRemove(call, request))) return;
    const seeded = await watching(call, request, (watched) =>
      call.domain.catalog.seed.apply(call.actor, watched),
    );
    const summary = planSummary(seeded);
    const last = isUnchanged(seeded) ? summary : `Seeded: ${summary}`;
    printWarnings(call, seeded);
    call.output.result({ dry_run: false, ...documentOf(seeded) }, [...planLines(seeded), last].join("\n"));
  });
}

async function requestFor(call: Call, file: string): Promise<SeedRequest> {
  const signal = call.context.stopSignal();
  const read = await readCatalogFile(resolve(call.context.cwd, file));
  return { ...read, ...removalCheck(call), fileName: file, prune: call.has("prune"), signal };
}

function printPlan(call: Call, plan: Seeded): void {
  printWarnings(call, plan);
  const summary = isUnchanged(plan) ? planSummary(plan) : `Plan: ${planSummary(plan)}. No changes made.`;
  call.output.result({ dry_run: true, ...documentOf(plan) }, [...planLines(plan), summary].join("\n"));
}

/** Prints the warnings for people; the JSON document contains them already. */
function printWarnings({ output }: Call, { warnings }: Seeded): void {
  if (!output.isJson) for (const { pointer, detail } of warnings) output.warning(`${pointer} ${detail}`);
}

const documentOf = (seeded: Seeded) => ({ ...planDocument(seeded), warnings: seeded.warnings });

const plan = (call: Call, request: SeedRequest): Promise<Seeded> =>
  watching(call, request, (watched) => call.domain.catalog.seed.plan(call.actor, watched));

async function mayRemove(call: Call, request: SeedRequest): Promise<boolean> {
  const wanted = await plan(call, request);
  if (wanted.removed.length === 0) return true;
  const count = countText(wanted.removed.length, "package");
  const action = `remove ${count} from the catalog`;
  return await isConfirmed(call.context, call.command, { action, details: planLines(wanted) });
}

async function watching(
  { context }: Call,
  request: SeedRequest,
  work: (request: SeedRequest) => Promise<Seeded>,
): Promise<Seeded> {
  using progress = startProgress(context, { label: "reading archives", unit: "bytes" });
  return await work({ ...request, onProgress: ({ bytes }) => progress.advance(bytes) });
}
