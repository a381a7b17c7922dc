// Gateway mode on one page: who forwards requests and to which address, the health of the proxy, and the keys by state and
// failure.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { problemText } from "../../../domain/gateway/administration/key-directory.ts";
import type { ProxyHealth } from "../../../domain/gateway/inference/proxy-health.ts";
import type { GatewayFigures } from "../../../domain/gateway/service.ts";
import type { GatewayStatus } from "../../../domain/gateway/status.ts";
import { asSentence } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { CopyableValue, Count, type Fact, Facts, State, Text, Time } from "../parts/values.tsx";
import { KEY_LABELS } from "../people/words.ts";
import { FAILED_CHECKS, GATEWAY_PATH, KEYS_PATH, PROXY_MODES } from "./words.ts";

export interface GatewayView {
  status: GatewayStatus;
  /** undefined unless requested */
  health: ProxyHealth | undefined;
  figures: GatewayFigures;
  /** keys by the code of their failure, most frequent first */
  failures: readonly { code: string; total: number }[];
}

export const gatewayPage = ({ status, health, figures, failures }: GatewayView): ConsolePage => ({
  title: "Gateway",
  live: ["revision", "keys"],
  content: (
    <>
      <ForwardingStatus status={status} />
      <Health status={status} health={health} />
      <Keys figures={figures} />
      <Failures failures={failures} />
      <AsCommand command={["status"]} api={{ method: "GET", path: "/gateway/status" }} />
    </>
  ),
});

function ForwardingStatus({ status }: { status: GatewayStatus }) {
  const failed = Object.entries(FAILED_CHECKS).filter(
    ([name]) => Object.entries(status.runtime_checks ?? {}).find(([check]) => check === name)?.[1] === false,
  );
  return (
    <section id="standing" data-region aria-labelledby="standing-title">
      <h2 id="standing-title">Forwarding</h2>
      {status.runtime_configured ? (
        <p>
          <State tone="good">Configured</State> Whether the gateway answers is shown under Health.
        </p>
      ) : (
        <ul class="problems">
          {failed.map(([name, { what, remedy }]) => (
            <li key={name} class="panel">
              <p>
                <State tone="attention">Not ready</State> {what}
                <span class="hint remedy">What to do: {remedy}</span>
              </p>
            </li>
          ))}
        </ul>
      )}
      <Facts facts={statusFacts(status)} />
    </section>
  );
}

function statusFacts({ proxy, harnesses = [], ...status }: GatewayStatus): Fact[] {
  const address = (label: string, value: string | undefined): Fact[] =>
    value === undefined ? [] : [{ label, value: <CopyableValue value={value} what={label.toLowerCase()} /> }];
  return [
    ...(proxy ? [{ label: "Mode", value: PROXY_MODES[proxy.mode] }] : []),
    ...address("Address for workstations", status.inference_proxy_url),
    ...address("Address of the gateway", status.upstream_gateway_url),
    { label: "Keys are created by", value: <Text value={status.provisioner_type} /> },
    {
      label: "Agents sent through it",
      value: <Text value={harnesses.map(({ name }) => name).join(", ")} none="none" />,
    },
    ...(proxy ? proxyFacts(proxy) : []),
  ];
}

/** Only the forwarding process knows its figures. */
function proxyFacts(proxy: NonNullable<GatewayStatus["proxy"]>): Fact[] {
  if (proxy.in_flight === null || proxy.capacity === null) return [];
  return [
    {
      label: "Requests in progress",
      value: (
        <>
          <Count value={proxy.in_flight} /> of at most <Count value={proxy.capacity} />
        </>
      ),
    },
    {
      label: "Last forwarded request",
      value: <LastRequest hasArrived={proxy.upstream_up} />,
    },
    { label: "Log rows that wait", value: <Count value={proxy.log_queue ?? 0} /> },
    { label: "Log rows dropped since the start", value: <Count value={proxy.log_dropped ?? 0} /> },
  ];
}

/** Checks of the gateway's health are not forwarded requests: their result is shown under Health. */
function LastRequest({ hasArrived }: { hasArrived: boolean | null }) {
  if (hasArrived === null) return <State tone="neutral">None since the start</State>;
  return hasArrived ? (
    <State tone="good">Reached the gateway</State>
  ) : (
    <State tone="bad">Did not reach the gateway</State>
  );
}

/** The script repeats the check every minute while the page is visible. */
function Health({ status: { proxy }, health }: Pick<GatewayView, "status" | "health">) {
  if (proxy?.mode === "off") return null;
  const query = proxy?.mode === "in-process" ? "?upstream=1" : "";
  return (
    <section id="health" data-region data-check aria-labelledby="health-title">
      <h2 id="health-title">Health</h2>
      <div class="panel">
        <div class="stretch">
          {health === undefined ? (
            <State tone="neutral">Not checked yet</State>
          ) : (
            <>
              <Answer subject="The proxy" answer={health} />
              {health.upstream && <Answer subject="The gateway" answer={health.upstream} />}
              <p class="muted">
                Checked <Time at={health.checked_at} />
              </p>
            </>
          )}
        </div>
        <ConsoleForm action={GATEWAY_PATH}>
          <button class="button" type="submit">
            Check now
          </button>
        </ConsoleForm>
      </div>
      <AsCommand api={{ method: "POST", path: `/gateway/proxy/health${query}` }} />
    </section>
  );
}

function Answer({ subject, answer }: { subject: string; answer: NonNullable<ProxyHealth["upstream"]> }) {
  return (
    <p>
      {answer.status === "healthy" ? (
        <>
          <State tone="good">Healthy</State>
          {subject} answered in <Count value={answer.latency_ms} /> ms.
        </>
      ) : (
        <>
          <State tone="bad">Unhealthy</State>
          <Text value={unhealthySentence(subject, answer)} />
        </>
      )}
    </p>
  );
}

const unhealthySentence = (
  subject: string,
  { http_status, error = `${subject} did not answer` }: NonNullable<ProxyHealth["upstream"]>,
): string =>
  http_status === undefined ? asSentence(error) : `${subject} answered with status ${http_status}.`;

function Keys({ figures: { keys, due, revocationsPending } }: { figures: GatewayFigures }) {
  return (
    <section id="keys" data-region aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      {keys.length === 0 && (
        <p>
          No user has a key yet. A user gets one with the first request to the gateway, or on the page of{" "}
          <a href={KEYS_PATH}>gateway keys</a>.
        </p>
      )}
      <Facts
        facts={[
          ...keys.map(({ state, total }) => ({
            label: KEY_LABELS[state].label,
            value: <Linked href={`${KEYS_PATH}?state=${state}`} value={total} />,
          })),
          { label: "To be reconciled now", value: <Count value={due} /> },
          { label: "To be revoked at the gateway", value: <Count value={revocationsPending} /> },
        ]}
      />
    </section>
  );
}

const Linked = ({ href, value }: { href: string; value: number }) => (
  <a href={href}>
    <Count value={value} />
  </a>
);

const Failures = ({ failures }: Pick<GatewayView, "failures">) => (
  <section id="failures" data-region aria-labelledby="failures-title">
    <h2 id="failures-title">Failures by reason</h2>
    {failures.length === 0 ? (
      <p>
        <State tone="good">No key has a problem</State>
      </p>
    ) : (
      <>
        <table class="rows">
          <caption class="visually-hidden">Keys with a problem, by reason</caption>
          <TableHead labels={["Reason", { number: "Keys" }]} />
          <tbody>
            {failures.map(({ code, total }) => (
              <tr key={code}>
                <td data-label="Reason">{reasonOf(code)}</td>
                <td data-label="Keys" class="number">
                  <Count value={total} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <p>
          <a href={`${KEYS_PATH}?problem=true`}>Keys with a problem</a>
        </p>
      </>
    )}
  </section>
);

/** A code that the provisioner does not know comes from an older version or from the gateway. */
const reasonOf = (code: string): ComponentChildren => {
  const text = problemText(code);
  return text === undefined ? "Another reason" : asSentence(text);
};
