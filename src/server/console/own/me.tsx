// The first page of a member: policy in three sentences, own workstations, gateway key, logins and captured sessions.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import type { ClientSummary } from "../../../domain/clients/inventory/inventory.ts";
import type { GatewayKeyStatus } from "../../../domain/gateway/keys/key-status.ts";
import type { PolicySummary } from "../../../domain/governance/service.ts";
import { KEY_SENTENCES } from "../../pages/account/key-words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { Count, Revision, State, Text, Time } from "../parts/values.tsx";
import { SESSIONS_PATH } from "../sessions/words.ts";
import { HEALTH_WORDS } from "../workstations/words.ts";
import {
  NO_POLICY,
  OWN_KEY_PATH,
  OWN_LOGINS_PATH,
  OWN_POLICY_PATH,
  OWN_WORKSTATIONS_PATH,
  policySentences,
} from "./words.ts";

export interface Me {
  policy: PolicySummary | undefined;
  /** most recently seen, and their total number */
  workstations: { items: readonly ClientSummary[]; total: number };
  /** undefined while gateway mode is off */
  key: GatewayKeyStatus | undefined;
  browsers: number;
  signedIn: number;
  /** captured sessions of the reader */
  sessions: number;
}

export const mePage = ({ policy, workstations, key, browsers, signedIn, sessions }: Me): ConsolePage => ({
  title: "Your start page",
  content: (
    <>
      <p>
        <a class="button" href="/device">
          Enter the code of a workstation
        </a>
      </p>
      <div class="cards">
        <Card title="Policy" more={{ href: OWN_POLICY_PATH, text: "See its settings" }}>
          <Policy policy={policy} />
        </Card>
        <Card title="Workstations" more={{ href: OWN_WORKSTATIONS_PATH, text: "All your workstations" }}>
          <Workstations {...workstations} />
        </Card>
        {key && (
          <Card title="Gateway key" more={{ href: OWN_KEY_PATH, text: "Manage your key" }}>
            <p>{KEY_SENTENCES[key.status]}</p>
          </Card>
        )}
        <Card title="Logins" more={{ href: OWN_LOGINS_PATH, text: "See and end logins" }}>
          <p>
            Signed in now: <Count value={browsers} /> {browsers === 1 ? "browser" : "browsers"} and{" "}
            <Count value={signedIn} /> {signedIn === 1 ? "workstation" : "workstations"}.
          </p>
        </Card>
        <Card
          title="Sessions"
          more={{ href: SESSIONS_PATH, text: "Your sessions and those shared with you" }}
        >
          <p>
            {sessions === 0 ? (
              "You have no captured sessions."
            ) : (
              <>
                <Count value={sessions} /> of your sessions {sessions === 1 ? "is" : "are"} kept.
              </>
            )}
          </p>
        </Card>
      </div>
    </>
  ),
});

interface CardProps {
  title: string;
  /** the page with the complete list */
  more?: { href: string; text: string };
  children: ComponentChildren;
}

const Card = ({ title, more, children }: CardProps) => (
  <article class="card" aria-label={title}>
    <h2>{title}</h2>
    {children}
    {more && (
      <p>
        <a href={more.href}>{more.text}</a>
      </p>
    )}
  </article>
);

function Policy({ policy }: { policy: PolicySummary | undefined }) {
  if (!policy) return <p>{NO_POLICY}</p>;
  return (
    <>
      <p>{policySentences(policy).join(" ")}</p>
      <p class="muted">
        <Revision sequence={policy.revision.sequence} />, published <Time at={policy.revision.createdAtMs} />
      </p>
    </>
  );
}

function Workstations({ items, total }: Me["workstations"]) {
  if (total === 0) return <p>No workstation has reported yet. Sign one in and enter its code above.</p>;
  return (
    <ul class="plain">
      {items.map(({ id, hostname, instanceId, health, lastSeenAtMs }) => (
        <li key={id}>
          <Text value={hostname ?? instanceId} />{" "}
          <State tone={HEALTH_WORDS[health].tone}>{HEALTH_WORDS[health].label}</State>{" "}
          <span class="muted">
            seen <Time at={lastSeenAtMs} />
          </span>
        </li>
      ))}
      {total > items.length && (
        <li class="muted">
          and <Count value={total - items.length} /> more
        </li>
      )}
    </ul>
  );
}
