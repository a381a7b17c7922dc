// Provides, replaces and revokes many gateway keys in the console: those selected on a page, or all that match the
// filters.
import {
  BULK_KEY_ACTIONS,
  type BulkKeyAction,
  type KeySelection,
} from "../../../../domain/gateway/administration/bulk-key-changes.ts";
import { refuseProblems } from "../../../../domain/shared/page.ts";
import type { Console } from "../../../console/console.ts";
import { featureOffPage } from "../../../console/frame/refusals.tsx";
import { KEY_BULK, keyBulkEquivalents } from "../../../console/gateway/key-bulk.ts";
import { KEY_FILTERS } from "../../../console/gateway/key-list.tsx";
import { keyPath } from "../../../console/gateway/words.ts";
import type { Values } from "../../../console/list/list.ts";
import type { Reader } from "../../../console/reader.ts";
import { formOperation, formRoute, pageRoute, seeOther } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { BULK_FORM, type Bulk, BulkActions } from "../lists/bulk.ts";
import { keyFilter } from "./key-pages.ts";

/** @returns the confirmation of an action on many keys, and the action */
export function gatewayKeyBulkPages({ router, domain }: RouteContext, console: Console) {
  const { bulkKeys } = domain.gateway;
  const isOff = (reader: Reader) =>
    console.has("gateway") ? undefined : featureOffPage("Gateway keys", { setting: "gateway.type", reader });

  const bulk: Bulk<BulkKeyAction, KeySelection & { values?: Values }> = {
    view: KEY_BULK,
    acts: BULK_KEY_ACTIONS,
    filters: KEY_FILTERS,
    async selectionOf(reader, chosen) {
      if ("ids" in chosen) return chosen;
      const { filter, problems } = await keyFilter(domain, reader, chosen.values);
      refuseProblems("gateway_key.invalid", problems);
      const { user_id } = filter;
      return { filter, text: chosen.text, values: { ...chosen.values, ...(user_id && { user_id }) } };
    },
    count: ({ organizationId }, selection) => bulkKeys.count(organizationId, selection),
    slice: ({ actor }, slice) => bulkKeys.slice(actor, slice),
    equivalents: ({ act, count, selection, rows }) =>
      keyBulkEquivalents(
        act,
        selection.ids
          ? { ids: selection.ids, addresses: rows.map(({ id, name }) => name ?? id) }
          : { values: selection.values ?? {}, expected: count },
      ),
    confirmOne: (_, act, id) => seeOther(`${keyPath(id)}/${act}`),
  };
  const actions = new BulkActions(bulk);

  return router
    .get(
      KEY_BULK.path,
      ({ request }) =>
        console.show(request, "administrator", (reader) => isOff(reader) ?? actions.confirm(reader)),
      pageRoute("showGatewayKeysActionPage", "Asks before an action on many gateway keys"),
    )
    .post(
      KEY_BULK.path,
      ({ request, body }) =>
        console.act(
          request,
          body,
          { needs: "administrator", back: KEY_BULK.listPath },
          (reader) => isOff(reader) ?? actions.run(reader, body),
        ),
      formRoute(BULK_FORM, formOperation("sendGatewayKeysAction", "Changes the gateway keys of many users")),
    );
}
