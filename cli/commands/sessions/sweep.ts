// `sessions sweep`: removes stored objects that belong to no session.
import { storeUnclaimed } from "../../../src/domain/sessions/errors.ts";
import { countText } from "../../../src/platform/count-text.ts";
import { bytesText } from "../../../src/platform/files/disk.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";

/** Requirement SES-43: a sweep removes nothing until a dry run has claimed the bucket. */
export async function sweep({ domain, actor, output, context, command, has }: Call): Promise<void> {
  const { sweep: sweeping } = domain.sessions;
  const signal = context.stopSignal();
  const { found, bytes, isOurs } = await sweeping.preview(signal);
  const isDryRun = has("dryRun");
  if (!isOurs && !isDryRun) throw storeUnclaimed();
  if (!isOurs) {
    await sweeping.claim();
    output.note("the bucket is claimed now: the next sweep removes objects that belong to no session");
  }
  if (found === 0)
    return output.result(
      { changed: false, objects: 0 },
      "unchanged: every stored object belongs to a session",
    );
  const details = [`They are older than a day and take ${bytesText(bytes)}.`];
  const action = `remove ${countText(found, "object")} without a session`;
  if (!(await isConfirmed(context, command, { action, details }))) return;
  const { removed } = await sweeping.run(actor, signal);
  output.result({ changed: removed > 0, objects: removed }, `removed ${countText(removed, "object")}`);
}
