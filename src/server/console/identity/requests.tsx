// Requests of the identity provider: the last one of each token, and refused ones.
/** @jsxImportSource preact */

import type { Refusal } from "../../../domain/scim/status/refusals.ts";
import type { ScimStatus } from "../../../domain/scim/status/status.ts";
import { Empty } from "../list/first-step.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { Facts, Text, Time } from "../parts/values.tsx";
import { FIRST_TOKEN, TOKEN_STATES, TOKENS_PATH } from "./words.ts";

/** Refused requests on the page. */
const REFUSALS_SHOWN = 25;

/** The section about requests of the provider. */
export const Requests = ({ scim: { tokens, refusals } }: { scim: ScimStatus }) => (
  <section>
    <h2>Requests of the provider</h2>
    {tokens.length === 0 ? (
      <Empty
        text={
          <>
            No token exists, so the provider cannot send requests.{" "}
            <a href={TOKENS_PATH}>Create the first token</a>.
          </>
        }
        command={FIRST_TOKEN}
      />
    ) : (
      <Facts
        facts={tokens.map(({ label, state, lastUsedAtMs }) => ({
          label: state === "active" ? label : `${label} (${TOKEN_STATES[state].label.toLowerCase()})`,
          value: (
            <>
              last request <Time at={lastUsedAtMs} />
            </>
          ),
        }))}
      />
    )}
    <h3>Refused requests</h3>
    {refusals.length === 0 ? (
      <p class="muted">No request was refused because of its content.</p>
    ) : (
      <Refusals refusals={refusals} />
    )}
  </section>
);

const Refusals = ({ refusals }: { refusals: readonly Refusal[] }) => (
  <>
    <table class="rows">
      <caption class="visually-hidden">Refused requests, newest first</caption>
      <TableHead labels={["When", "Token", "Request", "Why it was refused"]} />
      <tbody>
        {refusals.slice(0, REFUSALS_SHOWN).map(({ atMs, actor, method, route, detail, requestId }) => (
          <tr key={requestId}>
            <td data-label="When">
              <Time at={atMs} />
            </td>
            <td data-label="Token">
              <Text value={actor.replace(/^scim:/, "")} />
            </td>
            <td data-label="Request" class="wide">
              <code>
                {method} {route}
              </code>
            </td>
            <td data-label="Why it was refused" class="wide">
              <Text value={detail} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
    {refusals.length > REFUSALS_SHOWN && (
      <p class="hint">
        These are the newest {REFUSALS_SHOWN} of {refusals.length}. The command below shows all with{" "}
        <code>--json</code>.
      </p>
    )}
  </>
);
