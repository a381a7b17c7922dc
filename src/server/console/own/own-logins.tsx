// The reader's logins: signed-in browsers and workstations, with the buttons that end one login or all others.
/** @jsxImportSource preact */

import type { LoginKind, LoginPage, LoginView } from "../../../domain/access/logins/logins.ts";
import type { ListColumn } from "../../../domain/console/service.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { LoginCounts } from "../../pages/account/account.tsx";
import { browserText } from "../../pages/user-agent.ts";
import { countText } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { pathWith } from "../list/address.ts";
import { WORKSTATION_STEP } from "../list/first-step.tsx";
import type { Column, Filter, List, Values } from "../list/list.ts";
import { ListView, listStatus } from "../list/list-view.tsx";
import { options } from "../parts/command.tsx";
import { confirmationPage } from "../parts/form.tsx";
import { Text, Time } from "../parts/values.tsx";
import { BREADCRUMBS, OWN_LOGINS_PATH } from "./words.ts";

export interface OwnLogin extends LoginView {
  /** host that reported with this login */
  hostname: string | undefined;
  /** name of the provider through which a browser signed in */
  through: string | undefined;
  /** number of active workstations that a browser approved */
  approved: number;
  /** whether this browser shows the page */
  isCurrent: boolean;
}

const KIND_WORDS: Readonly<Record<LoginKind, string>> = {
  login_session: "Browser",
  grant: "Workstation",
  device_login: "Workstation that is signing in",
};

const FILTERS: readonly Filter[] = [
  {
    name: "kind",
    label: "Kind",
    kind: "choice",
    choices: Object.entries(KIND_WORDS).map(([value, label]) => ({ value, label })),
  },
];

/** @returns the name of the browser or workstation */
const nameOf = ({ kind, userAgent, hostname }: Pick<OwnLogin, "kind" | "userAgent" | "hostname">): string =>
  kind === "login_session" ? browserText(userAgent) : (hostname ?? "Workstation that has not reported yet");

const COLUMNS: readonly Column<OwnLogin, ListColumn<"/console/me/logins">>[] = [
  {
    name: "name",
    label: "Login",
    cell: (login) => (
      <>
        <Text value={nameOf(login)} /> {login.isCurrent && <span class="badge">This browser</span>}
      </>
    ),
  },
  {
    name: "kind",
    label: "Kind",
    cell: ({ kind, through, approved }) => (
      <>
        {KIND_WORDS[kind]}
        {through !== undefined && (
          <>
            , through <Text value={through} />
          </>
        )}
        {approved > 0 && `, approved ${countText(approved, "workstation")}`}
      </>
    ),
  },
  { name: "address", label: "Address", cell: ({ address }) => <Text value={address} none="unknown" /> },
  { name: "signed_in", label: "Signed in", cell: ({ createdAtMs }) => <Time at={createdAtMs} /> },
  {
    name: "used",
    label: "Last used",
    cell: ({ usedAtMs, createdAtMs }) => <Time at={usedAtMs ?? createdAtMs} />,
  },
  { name: "expires", label: "Expires if unused", cell: ({ expiresAtMs }) => <Time at={expiresAtMs} /> },
  {
    name: "end",
    label: "End",
    cell: (login) =>
      login.isCurrent ? (
        <span class="muted">Sign out in the menu above</span>
      ) : (
        <a href={`${OWN_LOGINS_PATH}/${login.id}/end`} data-dialog>
          End this login
        </a>
      ),
  },
];

interface OwnLogins {
  email: string;
  values: Values;
  page: (Pick<LoginPage, "next"> & { items: readonly OwnLogin[] }) | undefined;
  problems?: readonly Problem[] | undefined;
}

export function ownLoginsPage({ email, values, page, problems = [] }: OwnLogins): ConsolePage {
  const { kind, cursor } = values;
  const list: List<OwnLogin> = {
    noun: "logins",
    filters: FILTERS,
    columns: COLUMNS,
    rows: page?.items ?? [],
    idOf: ({ id }) => id,
    paging: { next: page?.next ?? null, isFirst: cursor === undefined },
    none: {
      ...WORKSTATION_STEP,
      text: (
        <>
          You have no login. A workstation gets one when you <a href="/device">enter the code it shows</a>.
        </>
      ),
    },
    problems,
    command: ["logins", "list", ...options({ user: email, kind })],
    api: { method: "GET", path: pathWith("/me/logins", new URLSearchParams(kind && { kind })) },
  };
  return {
    title: "Your logins",
    status: listStatus(list),
    isError: problems.length > 0,
    content: (
      <>
        <p class="choices">
          <a class="button" href={`${OWN_LOGINS_PATH}/end-others`} data-dialog>
            End all others
          </a>
          <a class="button danger" href="/account/sign-out-everywhere">
            Sign out everywhere
          </a>
        </p>
        <ListView list={list} />
      </>
    ),
  };
}

/** Asks before one login ends. */
export function endLoginPage(login: OwnLogin): ConsolePage {
  const { id, kind, approved } = login;
  const also =
    approved > 0
      ? `${countText(approved, "workstation")} that it approved must sign in again too.`
      : "Your other logins stay.";
  return confirmationPage({
    title: "End this login?",
    consequences: [
      <>
        <Text value={nameOf(login)} />{" "}
        {kind === "device_login" ? "cannot finish signing in." : "is signed out with its next request."}
      </>,
      also,
    ],
    action: `${OWN_LOGINS_PATH}/${id}/end`,
    verb: "End login",
    back: OWN_LOGINS_PATH,
    breadcrumbs: BREADCRUMBS.logins,
    command: ["logins", "revoke", id],
    api: { method: "DELETE", path: `/me/logins/${id}` },
  });
}

interface OtherLogins extends LoginCounts {
  email: string;
  /** of this browser, which stays signed in */
  sessionId: string;
}

/** Asks before all other logins end. */
export const endOtherLoginsPage = ({ email, sessionId, browsers, workstations }: OtherLogins): ConsolePage =>
  confirmationPage({
    title: "End all other logins?",
    consequences: [
      `This signs out ${countText(browsers - 1, "other browser")} and ${countText(workstations, "workstation")}.`,
      "They must sign in again. This browser stays signed in; your password and your gateway key do not change.",
    ],
    action: `${OWN_LOGINS_PATH}/end-others`,
    verb: "End all others",
    back: OWN_LOGINS_PATH,
    breadcrumbs: BREADCRUMBS.logins,
    command: ["logins", "revoke", "--user", email, "--except", sessionId],
    api: { method: "POST", path: "/me/logins/revoke-others" },
  });
