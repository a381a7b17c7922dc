// `catalog export --bundle`, `catalog import` and `catalog bundle-key`: transfers the catalog between machines without a network
// connection. The domain defines the bundle format and verifies bundles.
import { resolve } from "node:path";
import { openBundleFile } from "../../../src/app/files/catalog-file.ts";
import { type ImportPlan, type ImportRequest, isUnchanged } from "../../../src/domain/catalog/service.ts";
import { countText } from "../../../src/platform/count-text.ts";
import { readTrustedKeys, TRUSTED_KEYS_BYTES_MAX } from "../../../src/platform/crypto/file-signatures.ts";
import { findOwnSigner, makeOwnKey } from "../../../src/platform/crypto/own-signing-key.ts";
import { openDataDirectory } from "../../../src/platform/data-directory/data-directory.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { readFile, replaceFile } from "../../../src/platform/files/operator-files.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { printable } from "../../output/printable.ts";
import { type Progress, startProgress } from "../../output/progress.ts";
import { planDocument, planLines, planSummary, versionText } from "./plan-text.ts";
import { removalCheck } from "./remove.ts";
import { ownSigner, signerFor } from "./signer.ts";

/** Prints only the public key to stdout, so that it can be redirected to a file. */
export async function bundleKey({ domain, actor, config, context, output }: Call): Promise<void> {
  const { keys } = openDataDirectory(config.get("data_dir"));
  const known = findOwnSigner(keys);
  if (!known) makeOwnKey(keys, context.ids);
  const signer = known ?? ownSigner(keys);
  if (!known) await domain.catalog.bundles.keyMade(actor, signer.keyId);
  output.note(`key ${signer.keyId}`);
  output.result({ key_id: signer.keyId, public_key: signer.publicKey }, signer.publicKey.trimEnd());
}

/** @param file path of the bundle to write */
export async function exportBundle(call: Call, file: string): Promise<void> {
  const { domain, actor, output, context } = call;
  const signer = signerFor(call);
  const { packages, archives, leftOut, bytes } = domain.catalog.bundles.export(actor.organizationId, {
    signer,
    leaveOutRemote: call.has("leaveOutRemote"),
    signal: context.stopSignal(),
  });
  const path = resolve(context.cwd, file);
  await write(call, { path, bytes, total: archives.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) });
  if (leftOut.length > 0)
    output.warning(`left out because their archives are not stored here: ${leftOut.join(", ")}`);
  const document = {
    file: path,
    packages,
    archives: archives.length,
    left_out: leftOut,
    signer: signer.keyId,
  };
  const counts = `${countText(packages, "package")} with ${countText(archives.length, "archive")}`;
  output.result(document, `Exported ${counts} to ${file}\nsigned by ${signer.keyId}`);
}

async function write(
  { context }: Call,
  { path, bytes, total }: { path: string; bytes: AsyncIterable<Uint8Array>; total: number },
): Promise<void> {
  using progress = startProgress(context, { label: "writing archives", unit: "bytes", total });
  await replaceFile(path, countBytes(bytes, progress));
}

async function* countBytes(bytes: AsyncIterable<Uint8Array>, progress: Progress): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    progress.advance(piece.byteLength);
    yield piece;
  }
}

/** A dry run shows blocked removals as part of the plan; a real import fails because of them. */
export async function importBundle(call: Call): Promise<void> {
  const { bundles } = call.domain.catalog;
  const request = await requestFor(call);
  if (call.has("dryRun")) return printPlan(call, await withProgress(call, request, bundles.plan));
  if (!call.has("yes") && !(await mayRemove(call, request))) return;
  const done = await withProgress(call, request, bundles.import);
  printWarnings(call, done);
  const summary = planSummary(done);
  const last = isUnchanged(done) ? summary : `Imported: ${summary}`;
  call.output.result({ dry_run: false, ...documentOf(done) }, [...linesOf(done), last].join("\n"));
}

async function requestFor(call: Call): Promise<ImportRequest> {
  const { context, args } = call;
  const [file = ""] = args;
  const trust = call.text("trust");
  if (trust === undefined) throw noTrust();
  const keys = readTrustedKeys(
    Buffer.from(await readFile(resolve(context.cwd, trust), TRUSTED_KEYS_BYTES_MAX)).toString(),
    trust,
  );
  return {
    file: await openBundleFile(resolve(context.cwd, file), file),
    trusted: { name: trust, keys },
    keep: call.has("keep"),
    ...removalCheck(call),
    signal: context.stopSignal(),
  };
}

const noTrust = (): DomainError =>
  new DomainError(
    "invalid",
    "bundle.no_trust",
    "--trust FILE is required: the public key of the installation that exported the bundle",
    {
      hint: "print it there with `quartermaster catalog bundle-key`; see `quartermaster help bundles`",
    },
  );

async function withProgress(
  { context, actor }: Call,
  request: ImportRequest,
  work: (actor: Call["actor"], request: ImportRequest) => Promise<ImportPlan>,
): Promise<ImportPlan> {
  using progress = startProgress(context, {
    label: "reading archives",
    unit: "bytes",
    total: request.file.sizeBytes,
  });
  return await work(actor, { ...request, onProgress: ({ bytes }) => progress.advance(bytes) });
}

async function mayRemove(call: Call, request: ImportRequest): Promise<boolean> {
  const plan = await withProgress(call, request, call.domain.catalog.bundles.plan);
  if (plan.removed.length === 0 || plan.blocked.length > 0) return true; // the import fails and names what blocks it
  const action = `remove ${countText(plan.removed.length, "package")} from the catalog`;
  return await isConfirmed(call.context, call.command, { action, details: linesOf(plan) });
}

function printPlan(call: Call, plan: ImportPlan): void {
  printWarnings(call, plan);
  const { output } = call;
  const blocked = plan.blocked.length === 0 ? "" : `, ${plan.blocked.length} blocked`;
  const words = planSummary({ ...plan, removed: plan.removed.filter(({ id }) => !isBlocked(plan, id)) });
  const summary = isUnchanged(plan) ? planSummary(plan) : `Plan: ${words}${blocked}. No changes made.`;
  output.result({ dry_run: true, ...documentOf(plan) }, [...linesOf(plan), summary].join("\n"));
}

function printWarnings({ output }: Call, { fetches, warnings }: ImportPlan): void {
  for (const text of warnings) output.warning(text);
  for (const { id, path, what } of fetches) {
    output.warning(`${id} ${what} at run time (${path}); its digest does not cover the downloaded files`);
  }
}

const isBlocked = ({ blocked }: ImportPlan, id: string): boolean => blocked.some((entry) => entry.id === id);

function linesOf(plan: ImportPlan): string[] {
  const removed = plan.removed.filter(({ id }) => !isBlocked(plan, id));
  const blocked = plan.blocked.map(
    (entry) =>
      `- ${versionText(entry)} is used by revision ${entry.revision}: pass --allow-dangling or change the policy first`,
  );
  const { count, new: fresh, sizeBytes } = plan.archives;
  return [
    `signed by ${plan.signer}, exported ${printable(plan.exportedAt)}`,
    `${countText(count, "archive")}, ${sizeBytes} bytes, ${fresh} new`,
    ...planLines({ ...plan, removed }),
    ...blocked,
  ];
}

const documentOf = (plan: ImportPlan) => ({
  signer: plan.signer,
  exported_at: plan.exportedAt,
  archives: { count: plan.archives.count, new: plan.archives.new, size_bytes: plan.archives.sizeBytes },
  ...planDocument(plan),
  blocked: plan.blocked,
  fetches: plan.fetches,
});
