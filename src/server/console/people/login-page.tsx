// The page of one login.
/** @jsxImportSource preact */
import type { LoginView } from "../../../domain/access/logins/logins.ts";
import { browserText } from "../../pages/user-agent.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { AsCommand } from "../parts/command.tsx";
import { type Fact, Facts, Id, State, Text, Time } from "../parts/values.tsx";
import { clientPath } from "../workstations/client-list.tsx";
import { isLive, LOGIN_STATES, loginKindText, UserLink } from "./login-list.tsx";
import { BREADCRUMBS, endLoginPath } from "./login-pages.tsx";
import { loginPath } from "./words.ts";

const METHOD_LABELS = { password: "Password", oidc: "Identity provider" } as const;

interface LoginPageProps {
  mayAdminister: boolean;
  /** that last reported with the login; undefined for none */
  workstation: { id: string; hostname: string | null } | undefined;
}

/** @returns the page of one login, which may have ended */
export function loginPage(login: LoginView, { mayAdminister, workstation }: LoginPageProps): ConsolePage {
  const { id, kind, user, state, method, loginSessionId, userAgent } = login;
  const facts: Fact[] = [
    ...(kind === "grant" ? [{ label: "Workstation", value: <Reporter workstation={workstation} /> }] : []),
    ...(userAgent === null ? [] : [{ label: "Browser", value: <Text value={browserText(userAgent)} /> }]),
    { label: "User", value: user ? <UserLink user={user} /> : <span class="muted">nobody yet</span> },
    { label: "State", value: <State tone={LOGIN_STATES[state].tone}>{LOGIN_STATES[state].label}</State> },
    { label: "Address", value: <Text value={login.address} /> },
    { label: "Since", value: <Time at={login.createdAtMs} /> },
    {
      label: kind === "device_login" ? "Decided" : "Last used",
      value: <Time at={login.usedAtMs} none={kind === "device_login" ? "not yet" : "never"} />,
    },
    ...endFacts(login),
    ...(method === null ? [] : [{ label: "Signed in with", value: METHOD_LABELS[method] }]),
    ...(loginSessionId === null ? [] : [{ label: "Approved by", value: <Approver id={loginSessionId} /> }]),
    ...(login.scopes.length === 0 ? [] : [{ label: "Scopes", value: login.scopes.join(" ") }]),
    { label: "Id", value: <Id value={id} /> },
  ];
  return {
    title: `Login: ${loginKindText(login).toLowerCase()}`,
    breadcrumbs: BREADCRUMBS,
    content: (
      <>
        <Facts facts={facts} />
        {mayAdminister && isLive(state) && (
          <p>
            <a class="button" href={endLoginPath(id)} data-dialog>
              End this login
            </a>
          </p>
        )}
        <AsCommand command={["logins", "show", id]} api={{ method: "GET", path: `/admin/logins/${id}` }} />
      </>
    ),
  };
}

/** A used or refused device login has no end; it is only stored for some time. */
function endFacts(login: LoginView): Fact[] {
  const { endedAtMs, expiresAtMs, state } = login;
  if (endedAtMs !== null) return [{ label: "Ended", value: <Ended login={login} /> }];
  if (isLive(state)) return [{ label: "Expires", value: <Time at={expiresAtMs} /> }];
  return state === "expired" ? [{ label: "Expired", value: <Time at={expiresAtMs} /> }] : [];
}

function Reporter({ workstation }: Pick<LoginPageProps, "workstation">) {
  if (workstation === undefined) return <span class="muted">has not reported yet</span>;
  return (
    <a href={clientPath(workstation.id)}>
      <Text value={workstation.hostname ?? workstation.id} />
    </a>
  );
}

const Ended = ({ login: { endedAtMs, endedReason } }: { login: LoginView }) => (
  <>
    <Time at={endedAtMs} />
    {endedReason !== null && (
      <>
        {": "}
        <Text value={endedReason.replaceAll("_", " ")} />
      </>
    )}
  </>
);

/** The session may no longer exist; its page says so. */
const Approver = ({ id }: { id: string }) => <a href={loginPath(id)}>a login in a browser</a>;
