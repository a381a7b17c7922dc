// One workstation: its state with remedies, its report beside the policy, its login, and its owner.
/** @jsxImportSource preact */
import type { LoginView } from "../../../domain/access/logins/logins.ts";
import type { ClientView } from "../../../domain/clients/service.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { AsCommand } from "../parts/command.tsx";
import { visibleText } from "../parts/texts.ts";
import { type Fact, Facts, Id, Revision, Text, Time } from "../parts/values.tsx";
import { loginPath, userPath } from "../people/words.ts";
import { CLIENTS_ACTION_PATH, CLIENTS_PATH, clientPath } from "./client-list.tsx";
import { HealthState, LongText, platformText, ReportedRevision } from "./client-values.tsx";
import { ComparedHarnesses, ComparedPackages, type CurrentRevision } from "./compared-tables.tsx";
import type { Comparison } from "./comparison.ts";
import { ACTS, outdatedRemedy, remedyOf, STALE_REMEDY } from "./words.ts";

export interface ShownClient {
  client: ClientView;
  /** number of the reported revision, if it is one of the newest */
  sequence: number | undefined;
  /** the revision in force; undefined before the first one */
  current: CurrentRevision | undefined;
  comparison: Comparison;
  /** the login of the last report; undefined if it was deleted */
  login: LoginView | undefined;
  companions: readonly { id: string; hostname: string | null }[];
  mayAdminister: boolean;
}

/** @returns the name that the workstation reported */
export const clientName = ({ hostname, instanceId }: Pick<ClientView, "hostname" | "instanceId">): string =>
  visibleText(hostname ?? instanceId);

export function clientPage(shown: ShownClient): ConsolePage {
  const { client, comparison, current } = shown;
  return {
    title: clientName(client),
    breadcrumbs: [{ href: CLIENTS_PATH, label: "Workstations" }],
    content: (
      <>
        <Facts facts={factsOf(shown)} />
        {shown.mayAdminister && <Actions id={client.id} />}
        <Verdict shown={shown} />
        <section>
          <h2>Harnesses</h2>
          <ComparedHarnesses harnesses={comparison.harnesses} user={client.userEmail} current={current} />
        </section>
        <section>
          <h2>Packages</h2>
          <ComparedPackages comparison={comparison} current={current} />
        </section>
        <Login shown={shown} />
        <div class="list-foot">
          <AsCommand
            command={["clients", "show", client.id]}
            api={{ method: "GET", path: `/admin/client-status/${client.id}` }}
          />
        </div>
      </>
    ),
  };
}

function factsOf({ client, sequence, current }: ShownClient): Fact[] {
  return [
    { label: "State", value: <HealthState health={client.health} /> },
    {
      label: "Owner",
      value: (
        <a href={userPath(client.userId)}>
          <Text value={client.userEmail} />
        </a>
      ),
    },
    { label: "Last seen", value: <Time at={client.lastSeenAtMs} /> },
    { label: "First seen", value: <Time at={client.firstSeenAtMs} /> },
    { label: "Revision", value: <ReportedRevision sequence={sequence} id={client.configRevision} /> },
    { label: "Current revision", value: <Revision sequence={current?.sequence} /> },
    { label: "Client", value: <Text value={client.clientVersion} /> },
    { label: "Platform", value: <Text value={platformText(client.platform, client.architecture)} /> },
    { label: "Instance", value: <Text value={client.instanceId} /> },
    { label: "Id", value: <Id value={client.id} /> },
  ];
}

const Actions = ({ id }: { id: string }) => (
  <div class="choices">
    {(["revoke", "remove"] as const).map((act) => (
      <a key={act} class="button" href={`${CLIENTS_ACTION_PATH}?act=${act}&id=${id}`} data-dialog>
        {ACTS[act].label}
      </a>
    ))}
  </div>
);

/** Lists every reason, each with its remedy. */
function Verdict({ shown: { client, current } }: { shown: ShownClient }) {
  const isLate = client.health === "outdated" && client.verdict === "matches" && current !== undefined;
  const isFine = client.health === "current" && client.activity === "recent";
  return (
    <section>
      <h2>{isFine ? "Nothing to do" : "What to do"}</h2>
      {isFine && <p>This workstation has the current policy and reports no problem.</p>}
      <ul class="reasons">
        {client.reasons.map((reason) => (
          <Reason key={reason} what={reason} remedy={remedyOf(reason)} />
        ))}
        {isLate && (
          <Reason
            what="the policy of this workstation is an older revision"
            remedy={outdatedRemedy(current.sequence)}
          />
        )}
        {client.activity === "stale" && (
          <Reason what="this workstation has not reported for a long time" remedy={STALE_REMEDY} />
        )}
      </ul>
    </section>
  );
}

const Reason = ({ what, remedy }: { what: string; remedy: string }) => (
  <li>
    <strong>
      <LongText value={capitalized(what)} />
    </strong>
    <p>{remedy}</p>
  </li>
);

/** Names of packages and harnesses keep their letter case. */
const capitalized = (text: string): string =>
  /^\S+(?: \(\S+\))?:/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);

function Login({ shown: { login, companions } }: { shown: ShownClient }) {
  return (
    <section>
      <h2>Login</h2>
      {login === undefined ? (
        <p class="muted">The login of the last report was deleted.</p>
      ) : (
        <Facts
          facts={[
            { label: "State", value: <span>{login.state === "active" ? "Active" : "Ended"}</span> },
            { label: "Since", value: <Time at={login.createdAtMs} /> },
            { label: "Last used", value: <Time at={login.usedAtMs} /> },
            { label: "Address", value: <Text value={login.address} /> },
            { label: "Kind", value: login.kind === "grant" ? "Workstation" : "Browser" },
          ]}
        />
      )}
      {login && (
        <p>
          <a href={loginPath(login.id)}>All about this login</a>
        </p>
      )}
      {companions.length > 0 && (
        <>
          <p>The same sign-in approved these workstations:</p>
          <ul class="chips">
            {companions.map(({ id, hostname }) => (
              <li key={id}>
                <a href={clientPath(id)}>
                  <Text value={hostname ?? id} />
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
