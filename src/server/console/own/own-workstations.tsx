// The reader's workstations: what each has applied, its problems, and the button that ends its login.
/** @jsxImportSource preact */

import type { ClientPage, ClientView } from "../../../domain/clients/inventory/inventory.ts";
import { HEALTHS } from "../../../domain/clients/model.ts";
import type { ListColumn } from "../../../domain/console/service.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { WORKSTATION_STEP } from "../list/first-step.tsx";
import type { Column, Filter, List, Values } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { options } from "../parts/command.tsx";
import { confirmationPage } from "../parts/form.tsx";
import { State, Text, Time } from "../parts/values.tsx";
import { ReportedRevision } from "../workstations/client-values.tsx";
import { HEALTH_WORDS } from "../workstations/words.ts";
import { BREADCRUMBS, OWN_WORKSTATIONS_PATH } from "./words.ts";

const FILTERS: readonly Filter[] = [
  {
    name: "health",
    label: "State",
    kind: "choice",
    choices: HEALTHS.map((health) => ({ value: health, label: HEALTH_WORDS[health].label })),
  },
];

/** Reasons shown for one workstation; further ones are counted. */
const REASONS_SHOWN = 5;

interface OwnWorkstation extends ClientView {
  /** of the reported revision, if it is one of the newest */
  sequence: number | undefined;
  /** whether the login that reported still works */
  isSignedIn: boolean;
}

interface OwnWorkstations {
  email: string;
  values: Values;
  page: (Omit<ClientPage, "items"> & { items: readonly OwnWorkstation[] }) | undefined;
  problems?: readonly Problem[] | undefined;
}

export function ownWorkstationsPage({ email, values, page, problems = [] }: OwnWorkstations): ConsolePage {
  const { health } = values;
  const list: List<OwnWorkstation> = {
    noun: "workstations",
    filters: FILTERS,
    columns: columnsWith(page?.currentRevision ?? null),
    rows: page?.items ?? [],
    idOf: ({ id }) => id,
    paging: page ?? { page: 1, perPage: 1, total: 0 },
    none: {
      ...WORKSTATION_STEP,
      text: (
        <>
          No workstation has reported yet. Start the login on the workstation and{" "}
          <a href="/device">enter the code it shows</a>.
        </>
      ),
    },
    problems,
    command: ["clients", "list", ...options({ user: email, health })],
    ...(health === undefined && { api: { method: "GET", path: "/me/clients" } }), // it has no such filter
  };
  return {
    title: "Your workstations",
    status: listStatus(list),
    isError: problems.length > 0,
    content: <ListView list={list} />,
  };
}

const columnsWith = (
  currentRevision: string | null,
): readonly Column<OwnWorkstation, ListColumn<"/console/me/workstations">>[] => [
  {
    name: "host",
    label: "Host",
    cell: ({ hostname, instanceId }) => <Text value={hostname ?? instanceId} />,
  },
  {
    name: "platform",
    label: "Platform",
    cell: ({ platform, architecture }) => <Text value={[platform, architecture].filter(Boolean).join(" ")} />,
  },
  { name: "client_version", label: "Client", cell: ({ clientVersion }) => <Text value={clientVersion} /> },
  {
    name: "revision",
    label: "Revision",
    cell: ({ configRevision, sequence }) => (
      <>
        <ReportedRevision sequence={sequence} id={configRevision} />
        {configRevision !== null && configRevision === currentRevision && (
          <span class="muted"> in force</span>
        )}
      </>
    ),
  },
  { name: "state", label: "State", cell: (workstation) => <Verdict {...workstation} /> },
  { name: "last_seen", label: "Last seen", cell: ({ lastSeenAtMs }) => <Time at={lastSeenAtMs} /> },
  {
    name: "login",
    label: "Login",
    cell: ({ id, isSignedIn }) =>
      isSignedIn ? (
        <a href={`${OWN_WORKSTATIONS_PATH}/${id}/sign-out`} data-dialog>
          Sign this workstation out
        </a>
      ) : (
        <span class="muted">Signed out</span>
      ),
  },
];

function Verdict({ health, reasons }: OwnWorkstation) {
  const { tone, label } = HEALTH_WORDS[health];
  const more = reasons.length - REASONS_SHOWN;
  return (
    <>
      <State tone={tone}>{label}</State>
      {reasons.length > 0 && (
        <ul class="reasons">
          {reasons.slice(0, REASONS_SHOWN).map((reason) => (
            <li key={reason}>
              <Text value={reason} />
            </li>
          ))}
          {more > 0 && <li>and {more} more</li>}
        </ul>
      )}
    </>
  );
}

/** Asks before the login of a workstation ends. */
export function signOutWorkstationPage({
  id,
  hostname,
  instanceId,
  grantId,
  loginSessionId,
}: ClientView): ConsolePage {
  const login = grantId ?? loginSessionId;
  return confirmationPage({
    title: "Sign this workstation out?",
    consequences: [
      <>
        The login of <Text value={hostname ?? instanceId} /> ends. Its next request is refused, and it must
        sign in again.
      </>,
      "Nothing on it is deleted, and your other workstations stay signed in.",
    ],
    action: `${OWN_WORKSTATIONS_PATH}/${id}/sign-out`,
    verb: "Sign out",
    back: OWN_WORKSTATIONS_PATH,
    breadcrumbs: BREADCRUMBS.workstations,
    command: ["logins", "revoke", login],
    api: { method: "DELETE", path: `/me/logins/${login}` },
  });
}
