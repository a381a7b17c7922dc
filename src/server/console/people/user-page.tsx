// The page of one user: facts, actions, workstations, logins, packages, and the audit log about and by the user.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import type { LoginView } from "../../../domain/access/logins/logins.ts";
import type { NamedEntry } from "../../../domain/audit/reading/entry-document.ts";
import type { ClientSummary } from "../../../domain/clients/service.ts";
import type { KeyView } from "../../../domain/gateway/service.ts";
import type { User } from "../../../domain/identity/model.ts";
import { asSentence, roleText } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { CONSOLE } from "../frame/navigation.ts";
import { pathWith } from "../list/address.ts";
import { AsCommand } from "../parts/command.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { Count, Facts, Id, State, Text, Time } from "../parts/values.tsx";
import { explainPath } from "../policy/words.ts";
import { SESSIONS_PATH } from "../sessions/words.ts";
import { AUDIT_PATH } from "../system/audit-list.tsx";
import { clientPath } from "../workstations/client-list.tsx";
import { HealthState } from "../workstations/client-values.tsx";
import { LoginTable } from "./login-list.tsx";
import { ACTION_LABELS, actionPath, type UserAction } from "./user-actions.ts";
import { GROUPS_PATH, KEY_LABELS, LOGINS_PATH, SOURCE_LABELS, STATUS_LABELS, USERS_PATH } from "./words.ts";

interface Some<Row> {
  rows: readonly Row[];
  hasMore: boolean;
}

export interface UserPageProps {
  user: User;
  /** actions in this state, each with the reason if it is not possible; empty for readers who may not change users */
  actions: readonly { action: UserAction; refusal: string | undefined }[];
  workstations: Some<ClientSummary>;
  logins: Some<LoginView>;
  /** undefined if gateway mode is off */
  key: KeyView | undefined;
  groups: readonly { id: string; displayName: string }[];
  packages: { shown: number; hidden: readonly string[] };
  /** pending */
  invitations: number;
  /** captured */
  sessions: number;
  about: readonly NamedEntry[];
  by: readonly NamedEntry[];
}

export const userPage = (props: UserPageProps): ConsolePage => ({
  title: props.user.email,
  breadcrumbs: [{ href: USERS_PATH, label: "Users" }],
  content: (
    <>
      <UserFacts {...props} />
      <Actions {...props} />
      <Workstations {...props} />
      <Logins {...props} />
      <Packages {...props} />
      <History {...props} />
      <AsCommand
        command={["users", "show", props.user.email]}
        api={{ method: "GET", path: `/admin/users/${props.user.id}` }}
      />
    </>
  ),
});

function UserFacts({ user, key, groups, invitations, sessions }: UserPageProps) {
  const { tone, label } = STATUS_LABELS[user.status];
  return (
    <Facts
      facts={[
        { label: "Role", value: roleText(user.role) },
        { label: "Status", value: <State tone={tone}>{label}</State> },
        { label: "Managed by", value: SOURCE_LABELS[user.provisioningSource] },
        ...(key ? [{ label: "Gateway key", value: <KeyState {...key} /> }] : []),
        { label: "Groups", value: <Groups groups={groups} /> },
        { label: "Pending invitations sent", value: <Count value={invitations} /> },
        {
          label: "Captured sessions",
          value: (
            <a href={pathWith(SESSIONS_PATH, new URLSearchParams({ user: user.email }))}>
              <Count value={sessions} />
            </a>
          ),
        },
        { label: "Created", value: <Time at={user.createdAtMs} /> },
        { label: "Changed", value: <Time at={user.updatedAtMs} /> },
        { label: "Id", value: <Id value={user.id} /> },
      ]}
    />
  );
}

function KeyState({ state, problem }: KeyView) {
  const { tone, label } = KEY_LABELS[state];
  return (
    <>
      <State tone={tone}>{label}</State> {problem !== null && <Text value={problem} />}
    </>
  );
}

function Groups({ groups }: Pick<UserPageProps, "groups">) {
  if (groups.length === 0) return <span class="muted">none</span>;
  return (
    <>
      {groups.map(({ id, displayName }, index) => (
        <>
          {index > 0 && ", "}
          <a key={id} href={`${GROUPS_PATH}/${id}`}>
            <Text value={displayName} />
          </a>
        </>
      ))}
    </>
  );
}

/** An action that is not possible shows the reason instead of a button. */
function Actions({ user, actions }: UserPageProps) {
  if (actions.length === 0) return null;
  const refusals = [...new Set(actions.flatMap(({ refusal }) => (refusal === undefined ? [] : [refusal])))];
  const reasonId = (refusal: string): string => `reason-${refusals.indexOf(refusal)}`;
  return (
    <Section title="Actions">
      <p class="choices">
        {actions.map(({ action, refusal }) =>
          refusal === undefined ? (
            <a key={action} class="button" href={actionPath(user.id, action)} data-dialog>
              {ACTION_LABELS[action]}
            </a>
          ) : (
            <button key={action} class="button" type="button" disabled aria-describedby={reasonId(refusal)}>
              {ACTION_LABELS[action]}
            </button>
          ),
        )}
      </p>
      {refusals.map((refusal) => (
        <p key={refusal} class="hint" id={reasonId(refusal)}>
          {namesOf(actions.filter((one) => one.refusal === refusal))}: {asSentence(refusal)}
        </p>
      ))}
    </Section>
  );
}

const namesOf = (actions: UserPageProps["actions"]): string =>
  actions.map(({ action }) => ACTION_LABELS[action]).join(", ");

function Workstations({ user, workstations: { rows, hasMore } }: UserPageProps) {
  return (
    <Section title="Workstations">
      {rows.length === 0 ? (
        <p class="muted">No workstation of this user has reported.</p>
      ) : (
        <table class="rows">
          <caption class="visually-hidden">Workstations</caption>
          <TableHead labels={["Host", "State", "Last seen"]} />
          <tbody>
            {rows.map(({ id, hostname, instanceId, health, lastSeenAtMs }) => (
              <tr key={id}>
                <td data-label="Host">
                  <a href={clientPath(id)}>
                    <Text value={hostname ?? instanceId} />
                  </a>
                </td>
                <td data-label="State">
                  <HealthState health={health} />
                </td>
                <td data-label="Last seen">
                  <Time at={lastSeenAtMs} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {hasMore && <a href={`${CONSOLE}/clients?user=${user.id}`}>All workstations of this user</a>}
    </Section>
  );
}

const Logins = ({ user, logins: { rows, hasMore } }: UserPageProps) => (
  <Section title="Logins">
    {rows.length === 0 ? <p class="muted">This user is not signed in.</p> : <LoginTable logins={rows} />}
    {hasMore && <a href={`${LOGINS_PATH}?user_id=${user.id}`}>All logins of this user</a>}
  </Section>
);

function Packages({ user: { email }, packages: { shown, hidden } }: UserPageProps) {
  return (
    <Section title="Packages">
      {shown + hidden.length === 0 ? (
        <p class="muted">The policy has no packages.</p>
      ) : (
        <p>
          The policy offers this user <Count value={shown} /> of {shown + hidden.length} packages.
        </p>
      )}
      {hidden.length > 0 && (
        <p>
          For others only:{" "}
          {hidden.map((id, index) => (
            <>
              {index > 0 && ", "}
              <code key={id}>{id}</code>
            </>
          ))}
        </p>
      )}
      <a href={explainPath({ user: email })}>Explain the policy for this user</a>
    </Section>
  );
}

function History({ user: { id }, about, by }: UserPageProps) {
  return (
    <Section title="Audit log">
      <Entries title="About this user" entries={about} all={`${AUDIT_PATH}?target=${id}`} />
      <Entries title="By this user" entries={by} all={`${AUDIT_PATH}?actor=${id}`} />
    </Section>
  );
}

function Entries({ title, entries, all }: { title: string; entries: readonly NamedEntry[]; all: string }) {
  return (
    <>
      <h3>{title}</h3>
      {entries.length === 0 ? (
        <p class="muted">No entries.</p>
      ) : (
        <>
          <ul>
            {entries.map((entry) => (
              <li key={entry.id}>
                <a href={`${AUDIT_PATH}/${entry.id}`}>
                  <Time at={entry.atMs} />
                </a>{" "}
                <code>{entry.action}</code> by <Text value={entry.actorLabel} />
              </li>
            ))}
          </ul>
          <a href={all}>All entries</a>
        </>
      )}
    </>
  );
}

const Section = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section>
    <h2>{title}</h2>
    {children}
  </section>
);
