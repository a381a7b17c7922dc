// `catalog remove`: removes one package from the catalog and keeps its archive.
import type { RemovalCheck } from "../../../src/domain/catalog/service.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { versionText } from "./plan-text.ts";

/** @returns how commands that remove packages find the packages used by the current policy */
export const removalCheck = ({ domain, actor, has }: Call): RemovalCheck => ({
  inUse: (connection) => domain.governance.revisions.packagesInUse(connection, actor.organizationId),
  allowDangling: has("allowDangling"),
});

export async function remove(call: Call): Promise<void> {
  const { domain, actor, context, command, output } = call;
  const [id = ""] = call.args;
  const check = removalCheck(call);
  const managed = domain.catalog.removable(actor.organizationId, id, check);
  const details = [versionText(managed), "Its archive stays for policies that use it."];
  if (!(await isConfirmed(context, command, { action: "remove 1 package from the catalog", details })))
    return;
  await domain.catalog.remove(actor, id, check);
  output.result({ removed: managed }, `removed ${id} from the catalog`);
}
