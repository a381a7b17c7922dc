// `catalog remove`: takes one package off the list; its archive stays.
import type { Call } from "../in-domain.ts";
import { versionText } from "../plan-text.ts";
import { isConfirmed } from "../prompt.ts";

export async function remove({
  domain,
  actor,
  context,
  command,
  output,
  args: [id = ""],
}: Call): Promise<void> {
  const managed = domain.catalog.get(actor.organizationId, id);
  const details = [versionText(managed), "Its archive stays, for policies that name it."];
  if (!(await isConfirmed(context, command, { action: "remove 1 package from the catalog", details })))
    return;
  await domain.catalog.remove(actor, id);
  output.result({ removed: managed }, `removed ${id} from the catalog`);
}
