// The gateway keys of all users in the console: the list, and one key.
import type { Domain } from "../../../../domain/domain.ts";
import { readKeyQuery, type SentKeyQuery } from "../../../../domain/gateway/administration/key-document.ts";
import type { User } from "../../../../domain/identity/service.ts";
import { PER_PAGE_DEFAULT, refuseProblems } from "../../../../domain/shared/page.ts";
import type { Problem } from "../../../../platform/errors.ts";
import type { Console } from "../../../console/console.ts";
import type { ConsolePage } from "../../../console/frame/frame.tsx";
import { featureOffPage } from "../../../console/frame/refusals.tsx";
import { KEY_COLUMNS, keyListPage } from "../../../console/gateway/key-list.tsx";
import { keyPage } from "../../../console/gateway/key-page.tsx";
import { KEYS_PATH } from "../../../console/gateway/words.ts";
import { csvRoute, walkCursors } from "../../../console/list/csv.ts";
import { found, listValues, type Values } from "../../../console/list/list.ts";
import type { Reader } from "../../../console/reader.ts";
import { pageRoute } from "../../../pages/html.ts";
import type { RouteContext } from "../../../router.ts";
import { userIdOf } from "../fleet-queries.ts";
import { exportResponse } from "../lists/list-export.ts";

export function gatewayKeyPages({ router, domain }: RouteContext, console: Console) {
  const { directory } = domain.gateway;
  const isOff = (reader: Reader): ConsolePage | undefined =>
    console.has("gateway") ? undefined : featureOffPage("Gateway keys", { setting: "gateway.type", reader });
  const userOf = ({ organizationId }: Reader, id: string): User =>
    domain.identity.users.show(organizationId, id.toLowerCase());

  const listPage = async (reader: Reader) => {
    const values = listValues(reader);
    const { per_page: limit = String(PER_PAGE_DEFAULT), cursor } = values;
    const { filter, problems: wrong } = await keyFilter(domain, reader, values);
    const { rows: page, problems } = await found(
      () => directory.listByKey(reader.organizationId, readKeyQuery({ ...filter, cursor, limit })),
      wrong,
    );
    return keyListPage({
      mayAdminister: reader.mayAdminister,
      values,
      page,
      problems: problems?.map(withNameOfAddress),
      userId: filter.user_id,
    });
  };

  const file = async (reader: Reader) => {
    const { filter, problems } = await keyFilter(domain, reader, listValues(reader));
    refuseProblems("gateway_key.invalid", problems);
    const pages = await walkCursors((cursor) =>
      directory.listByKey(reader.organizationId, readKeyQuery({ ...filter, cursor })),
    );
    return exportResponse(domain, reader, { list: "gateway_keys", columns: KEY_COLUMNS, pages });
  };

  return router
    .get(
      KEYS_PATH,
      ({ request }) => console.show(request, "administrator", (reader) => isOff(reader) ?? listPage(reader)),
      pageRoute("showGatewayKeysPage", "The gateway keys of all users"),
    )
    .get(
      `${KEYS_PATH}.csv`,
      ({ request }) => console.show(request, "administrator", (reader) => isOff(reader) ?? file(reader)),
      csvRoute("downloadGatewayKeys", "The gateway keys of all users as a CSV file"),
    )
    .get(
      `${KEYS_PATH}/:user`,
      ({ request, params }) =>
        console.show(request, "administrator", (reader) => {
          const off = isOff(reader);
          if (off) return off;
          const user = userOf(reader, params.user);
          const revocationsPending = directory.revocationsOf(user);
          return keyPage({ user, key: directory.show(user), revocationsPending });
        }),
      pageRoute("showGatewayKeyPage", "The gateway key of one user"),
    );
}

/** @returns the filters of an address in the format of the domain, with the id of the user */
export async function keyFilter(
  domain: Domain,
  { organizationId }: Reader,
  { q, state, problem, expires_within, user_id: text }: Values,
): Promise<{ filter: SentKeyQuery; problems: readonly Problem[] }> {
  const problems: Problem[] = [];
  const user_id = await userIdOf(domain, { organizationId, text, problems, name: "user_id" });
  return { filter: { q, state, problem, expires_within, user_id }, problems };
}

/** The list's address has its own name for the number of rows. */
const withNameOfAddress = ({ pointer, detail }: Problem): Problem =>
  pointer === "/limit"
    ? { pointer: "/per_page", detail: detail.replace("limit", "the number of rows") }
    : { pointer, detail };
