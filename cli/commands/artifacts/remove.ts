// `artifacts remove`: removes one archive that nothing uses.
import { bytesText } from "../../../src/platform/files/disk.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { artifactDocument, originOf } from "./view.ts";

/** @throws DomainError `artifact.unknown`, `artifact.in_use` */
export async function remove({ domain, actor, context, command, output, args }: Call): Promise<void> {
  const [id = ""] = args;
  const stored = await domain.artifacts.removable(actor.organizationId, id);
  const details = [`${stored.artifact.id} (${bytesText(stored.artifact.sizeBytes)})`, originOf(stored)];
  const plan = { action: "remove 1 archive", details: details.filter((text) => text !== "") };
  if (!(await isConfirmed(context, command, plan))) return;
  await domain.artifacts.remove(actor, id);
  output.result(
    { removed: artifactDocument({ ...stored, isNamed: false }) },
    `removed ${stored.artifact.id}`,
  );
}
