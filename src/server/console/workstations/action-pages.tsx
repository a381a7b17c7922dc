// Removing and revoking workstations: the question for one workstation, and the texts for many.
/** @jsxImportSource preact */
import type { ClientView } from "../../../domain/clients/service.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import type { BulkView } from "../list/bulk.tsx";
import { confirmationPage } from "../parts/form.tsx";
import { Text } from "../parts/values.tsx";
import { CLIENTS_ACTION_PATH, CLIENTS_PATH, clientPath } from "./client-list.tsx";
import { clientName } from "./client-page.tsx";
import { ACTS, type Act } from "./words.ts";

/** The actions on many workstations. */
export const CLIENT_BULK: BulkView<Act> = {
  path: CLIENTS_ACTION_PATH,
  listPath: CLIENTS_PATH,
  list: "Workstations",
  nouns: ["workstation", "workstations"],
  words: ACTS,
};

/** Number of names that the question lists. */
const NAMED = 10;

interface OneProps {
  act: Act;
  client: ClientView;
  companions: readonly { id: string; hostname: string | null }[];
  /** whether the reader's own sign-in ends */
  isOwn: boolean;
}

/** Asks before one workstation is removed or revoked. */
export function confirmOne({ act, client, companions, isOwn }: OneProps): ConsolePage {
  const name = clientName(client);
  const removing = [
    <>
      Remove <Text value={name} /> (<Text value={client.userEmail} />) from the inventory? Its access stays;
      at its next report it appears again. To end its access, revoke it instead.
    </>,
  ];
  const revoking = [
    <>
      End the login of <Text value={name} /> (<Text value={client.userEmail} />
      )? Its next request is refused and it must sign in again.
    </>,
    ...(companions.length > 0 ? [<Companions companions={companions} />] : []),
    ...(isOwn ? ["The same sign-in opened this console, so you are signed out too."] : []),
  ];
  return confirmationPage({
    title: `${ACTS[act].verb} ${name}?`,
    consequences: act === "remove" ? removing : revoking,
    action: CLIENTS_ACTION_PATH,
    fields: { act, ids: client.id },
    verb: ACTS[act].verb,
    back: clientPath(client.id),
    breadcrumbs: [{ href: CLIENTS_PATH, label: CLIENT_BULK.list }],
    command: ["clients", act, client.id],
    api:
      act === "remove"
        ? { method: "DELETE", path: `/admin/client-status/${client.id}` }
        : { method: "POST", path: "/admin/client-status/revoke", body: { ids: [client.id] } },
  });
}

function Companions({ companions }: Pick<OneProps, "companions">) {
  const named = companions.slice(0, NAMED);
  const more = companions.length - named.length;
  return (
    <>
      {companions.length === 1 ? "Another workstation uses" : `${companions.length} other workstations use`}{" "}
      the same login and must sign in again too:{" "}
      {named.map(({ id, hostname }, index) => (
        <span key={id}>
          {index > 0 && ", "}
          <Text value={hostname ?? id} />
        </span>
      ))}
      {more > 0 && ` and ${more} more`}.
    </>
  );
}
