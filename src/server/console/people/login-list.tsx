// Logins as a table: on the page of a user, and in the list of all logins.
/** @jsxImportSource preact */
import type { LoginKind, LoginState, LoginView } from "../../../domain/access/logins/logins.ts";
import { browserText } from "../../pages/user-agent.ts";
import { TableHead } from "../parts/table-head.tsx";
import { State, Text, Time, type Tone } from "../parts/values.tsx";
import { loginPath, userPath } from "./words.ts";

export const LOGIN_KIND_LABELS: Readonly<Record<LoginKind, string>> = {
  device_login: "Waiting workstation",
  login_session: "Browser",
  grant: "Workstation",
};

export const LOGIN_STATES: Readonly<Record<LoginState, { label: string; tone: Tone }>> = {
  pending: { label: "Waiting for approval", tone: "attention" },
  approved: { label: "Approved", tone: "neutral" },
  refused: { label: "Refused", tone: "neutral" },
  redeemed: { label: "Used", tone: "neutral" },
  active: { label: "In use", tone: "good" },
  expired: { label: "Expired", tone: "neutral" },
  ended: { label: "Ended", tone: "neutral" },
  revoked: { label: "Ended", tone: "neutral" },
};

/** @returns whether the login can be used or approved now */
export const isLive = (state: LoginState): boolean =>
  state === "active" || state === "pending" || state === "approved";

/** A workstation waits only until its device login is used, refused or expired. */
export const loginKindText = ({ kind, state }: Pick<LoginView, "kind" | "state">): string =>
  kind === "device_login" && !isLive(state) ? "Sign-in of a workstation" : LOGIN_KIND_LABELS[kind];

/** The kind of a login, and the browser that it belongs to. */
export function LoginName({ login }: { login: LoginView }) {
  const { userAgent } = login;
  return (
    <>
      {loginKindText(login)}
      {userAgent !== null && (
        <>
          {": "}
          <Text value={browserText(userAgent)} />
        </>
      )}
    </>
  );
}

export function LoginTable({ logins }: { logins: readonly LoginView[] }) {
  return (
    <table class="rows">
      <caption class="visually-hidden">Logins</caption>
      <TableHead labels={["Login", "State", "Address", "Since", "Last used"]} />
      <tbody>
        {logins.map((login) => (
          <tr key={login.id}>
            <td data-label="Login">
              <a href={loginPath(login.id)}>
                <LoginName login={login} />
              </a>
            </td>
            <td data-label="State">
              <State tone={LOGIN_STATES[login.state].tone}>{LOGIN_STATES[login.state].label}</State>
            </td>
            <td data-label="Address">
              <Text value={login.address} />
            </td>
            <td data-label="Since">
              <Time at={login.createdAtMs} />
            </td>
            <td data-label="Last used">
              <Time at={login.usedAtMs} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export const UserLink = ({ user: { id, email } }: { user: NonNullable<LoginView["user"]> }) => (
  <a href={userPath(id)}>
    <Text value={email} />
  </a>
);
