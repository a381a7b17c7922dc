// `catalog upload`: stores an archive as the console and the API do, and prints the package fields that refer to the
// archive.
import { basename, resolve } from "node:path";
import { toSourceView } from "../../../src/domain/catalog/sources/source-wire.ts";
import { openFile } from "../../../src/platform/files/operator-files.ts";
import { yamlText } from "../../../src/platform/text/yaml-write.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { withFileContext } from "../../exit.ts";
import { startProgress } from "../../output/progress.ts";

export async function upload({ domain, actor, args, context, output }: Call): Promise<void> {
  const [file = ""] = args;
  await withFileContext(file, async () => {
    const { sizeBytes, bytes } = await openFile(resolve(context.cwd, file));
    using progress = startProgress(context, {
      label: "reading the archive",
      unit: "bytes",
      total: sizeBytes,
    });
    const found = await domain.packageSources.upload(actor, {
      name: basename(file),
      bytes: watched(bytes, { progress, signal: context.stopSignal() }),
    });
    for (const { path, what } of found.runtimeDownloads)
      output.warning(`${path} ${what}; the digest does not cover that`);
    const view = toSourceView(found);
    const { source_ref, artifact_id, sha256, adapters } = view;
    output.result(view, yamlText({ source_ref, artifact_id, sha256, adapters }).trimEnd());
  });
}

async function* watched(
  bytes: AsyncIterable<Uint8Array>,
  { progress, signal }: { progress: { advance(bytes: number): void }; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    signal.throwIfAborted();
    progress.advance(piece.byteLength);
    yield piece;
  }
}
