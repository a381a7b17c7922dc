// The list of all logins, and the texts of the pages that end one of them or all of them. login-page.tsx shows one.
/** @jsxImportSource preact */

import { LOGIN_KINDS } from "../../../domain/access/logins/login-document.ts";
import type { LoginPage, LoginView } from "../../../domain/access/logins/logins.ts";
import type { ListColumn } from "../../../domain/console/service.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { pathWith } from "../list/address.ts";
import { WORKSTATION_STEP } from "../list/first-step.tsx";
import type { Column, Filter, List, Values } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { options } from "../parts/command.tsx";
import { type Confirmation, confirmationPage } from "../parts/form.tsx";
import { numberText } from "../parts/texts.ts";
import { State, Text, Time, useReader } from "../parts/values.tsx";
import { isLive, LOGIN_KIND_LABELS, LOGIN_STATES, LoginName, UserLink } from "./login-list.tsx";
import { LOGINS_PATH, loginPath, userPath } from "./words.ts";

export const END_ALL_PATH = `${LOGINS_PATH}/end-all`;
export const endLoginPath = (id: string): string => `${loginPath(id)}/end`;

const FILTERS: readonly Filter[] = [
  { name: "user_id", label: "User", kind: "person", hint: "Address or id" },
  {
    name: "kind",
    label: "Kind",
    kind: "choice",
    choices: LOGIN_KINDS.map((value) => ({ value, label: LOGIN_KIND_LABELS[value] })),
  },
  {
    name: "show",
    label: "State",
    kind: "choice",
    choices: [
      { value: "live", label: "In use" },
      { value: "all", label: "Ended ones too" },
    ],
  },
];

export const LOGIN_COLUMNS: readonly Column<LoginView, ListColumn<"/console/logins">>[] = [
  {
    name: "user",
    label: "User",
    cell: ({ user }) => (user ? <UserLink user={user} /> : <span class="muted">nobody yet</span>),
    csv: ({ user }) => user?.email,
    isWide: true,
  },
  { name: "login", label: "Login", cell: (login) => <LoginCell login={login} />, csv: ({ kind }) => kind },
  {
    name: "state",
    label: "State",
    cell: ({ state }) => <State tone={LOGIN_STATES[state].tone}>{LOGIN_STATES[state].label}</State>,
    csv: ({ state }) => state,
  },
  {
    name: "address",
    label: "Address",
    cell: ({ address }) => <Text value={address} />,
    csv: ({ address }) => address,
  },
  {
    name: "since",
    label: "Since",
    cell: ({ createdAtMs }) => <Time at={createdAtMs} />,
    csv: ({ createdAtMs }) => toRfc3339(createdAtMs),
  },
  {
    name: "used",
    label: "Last used",
    cell: ({ usedAtMs }) => <Time at={usedAtMs} />,
    csv: ({ usedAtMs }) => (usedAtMs === null ? "" : toRfc3339(usedAtMs)),
  },
];

const ENDS_COLUMN: Column<LoginView, ListColumn<"/console/logins">> = {
  name: "end",
  label: "Action",
  cell: ({ id, state }) =>
    isLive(state) && (
      <a href={endLoginPath(id)} data-dialog="">
        End login
      </a>
    ),
};

function LoginCell({ login }: { login: LoginView }) {
  const { visitor } = useReader();
  return (
    <>
      <a href={loginPath(login.id)}>
        <LoginName login={login} />
      </a>
      {login.id === visitor.principal.sessionId && <span class="muted"> (this browser)</span>}
    </>
  );
}

interface LoginListProps {
  values: Values;
  page: LoginPage | undefined;
  problems?: readonly Problem[] | undefined;
  /** id of the user whose logins are shown */
  userId: string | undefined;
  mayAdminister: boolean;
}

export function loginListPage(props: LoginListProps): ConsolePage {
  const { values, page, problems = [], userId, mayAdminister } = props;
  const { user_id: user, kind, show, cursor } = values;
  const query = Object.entries({ user_id: userId, kind, show }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value]],
  );
  const list: List<LoginView> = {
    noun: "logins",
    filters: FILTERS,
    columns: mayAdminister ? [...LOGIN_COLUMNS, ENDS_COLUMN] : LOGIN_COLUMNS,
    rows: page?.items ?? [],
    idOf: ({ id }) => id,
    paging: { next: page?.next ?? null, isFirst: cursor === undefined },
    none: {
      ...WORKSTATION_STEP,
      text: "Nobody is signed in. A login begins when a person signs in in a browser, or approves the code of a workstation.",
    },
    problems,
    csvPath: `${LOGINS_PATH}.csv`,
    command: ["logins", "list", ...options({ user, kind, all: show === "all" })],
    api: { method: "GET", path: pathWith("/admin/logins", new URLSearchParams(query)) },
  };
  return {
    title: "Logins",
    status: listStatus(list),
    isError: problems.length > 0,
    content: (
      <>
        {mayAdminister && (
          <p class="choices">
            {userId !== undefined && (
              <a class="button" href={`${userPath(userId)}/end-logins`} data-dialog>
                End all logins of this user
              </a>
            )}
            <a class="button" href={END_ALL_PATH} data-dialog>
              End all logins
            </a>
          </p>
        )}
        <ListView list={list} />
      </>
    ),
  };
}

export const BREADCRUMBS = [{ href: LOGINS_PATH, label: "Logins" }];

const CONSEQUENCES: Readonly<Record<LoginView["kind"], string>> = {
  device_login: "The workstation that waits for it must start again. Nothing else ends.",
  login_session: "The browser is signed out. The workstations that it approved must sign in again too.",
  grant: "Its next request is refused, and the workstation must sign in again. Other logins stay.",
};

/** Asks before a login is ended; shows a note for a login that has already ended. */
export const endLoginPage = (login: LoginView): ConsolePage =>
  isLive(login.state)
    ? confirmationPage({
        title: `End this login${login.user ? ` of ${login.user.email}` : ""}?`,
        consequences: [<Origin login={login} />, CONSEQUENCES[login.kind]],
        action: endLoginPath(login.id),
        verb: "End login",
        back: LOGINS_PATH,
        breadcrumbs: BREADCRUMBS,
        command: ["logins", "revoke", login.id],
        api: { method: "POST", path: `/admin/logins/${login.id}/revoke` },
      })
    : {
        title: "This login has ended already",
        status: 409,
        isError: true,
        breadcrumbs: BREADCRUMBS,
        content: (
          <p>
            <Origin login={login} />. Nothing is left to end. <a href={loginPath(login.id)}>See the login</a>
          </p>
        ),
      };

const Origin = ({ login }: { login: LoginView }) => (
  <>
    <LoginName login={login} />, from the address <Text value={login.address} none="that is not known" />
  </>
);

/** @returns the confirmation of ending every login; the number is typed */
export const endAllConfirmation = (
  { count, language }: { count: number; language: string },
  error?: string,
): Confirmation => ({
  title: `End all ${numberText(count, language)} logins, yours included?`,
  consequences: [
    "Every browser and every workstation of this installation must sign in again, yours included.",
    "Accounts, passwords and gateway keys stay.",
  ],
  action: END_ALL_PATH,
  fields: { count: String(count) },
  verb: "End all logins",
  typed: String(count),
  isSevere: true,
  error,
  back: LOGINS_PATH,
  breadcrumbs: BREADCRUMBS,
  command: ["logins", "revoke", "--all"],
  api: { method: "POST", path: "/admin/logins/revoke", body: { all: true } },
});
