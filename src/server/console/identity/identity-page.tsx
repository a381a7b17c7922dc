// Sign-in and provisioning on one page: the values that the provider needs, the roles, and the problems.
/** @jsxImportSource preact */
import type { Static } from "@sinclair/typebox";
import type { ProvisioningSource, Role } from "../../../domain/identity/model.ts";
import type { ScimStatus } from "../../../domain/scim/status/status.ts";
import {
  isReportedByBrowser,
  type OidcStatus,
  operatorRemedy,
  type Registration,
  type SsoSettings,
} from "../../../domain/sso/service.ts";
import { countText } from "../../../platform/count-text.ts";
import { asSentence, roleText } from "../../pages/words.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { AsCommand } from "../parts/command.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { CopyableValue, Count, type Fact, Facts, State, Text, Time } from "../parts/values.tsx";
import { SOURCE_LABELS, USERS_PATH } from "../people/words.ts";
import { Requests } from "./requests.tsx";
import { MODE_TEXT, PROVISIONING_TEXT, TOKENS_PATH } from "./words.ts";

/** Users who are not removed, by who manages them. */
interface SourceCount {
  source: ProvisioningSource;
  active: number;
  suspended: number;
}

/** A group of a setting, and the role of its members. */
export interface Mapping {
  group: string;
  role: Role;
  setting: string;
}

export interface IdentityFacts {
  mode: keyof typeof MODE_TEXT;
  oidc: Static<typeof OidcStatus>;
  settings: SsoSettings | undefined;
  registration: Registration | undefined;
  /** base address for the provider's SCIM client */
  scimUrl: string;
  scim: ScimStatus;
  mappings: readonly Mapping[];
  sources: readonly SourceCount[];
}

export function identityPage(facts: IdentityFacts): ConsolePage {
  const { scim } = facts;
  return {
    title: "Identity",
    content: (
      <>
        <Warnings warnings={scim.warnings} />
        <SignIn facts={facts} />
        <Addresses facts={facts} />
        <Users facts={facts} />
        <Mappings mappings={facts.mappings} />
        <Requests scim={scim} />
        <AsCommand command={["scim", "status"]} api={{ method: "GET", path: "/admin/scim/status" }} />
      </>
    ),
  };
}

const Warnings = ({ warnings }: { warnings: readonly string[] }) =>
  warnings.length === 0 ? null : (
    <div class="panel">
      <State tone="attention">{countText(warnings.length, "problem")}</State>
      <ul>
        {warnings.map((warning) => (
          <li key={warning}>
            <WithCode text={asSentence(warning)} />
          </li>
        ))}
      </ul>
    </div>
  );

/** Marks the commands in a text of the domain, which are between backticks. */
const WithCode = ({ text }: { text: string }) => (
  <>
    {text
      .split(/`([^`]+)`/)
      .map((part, at) => (at % 2 === 1 ? <code key={part}>{part}</code> : <Text key={part} value={part} />))}
  </>
);

function SignIn({ facts: { mode, oidc, settings } }: { facts: IdentityFacts }) {
  const rows: Fact[] = [
    { label: "How people sign in", value: MODE_TEXT[mode] },
    ...(settings
      ? [
          { label: "Provider", value: <Text value={settings.providerName} /> },
          { label: "Issuer", value: <CopyableValue value={settings.issuer} what="issuer" /> },
          { label: "Client id", value: <CopyableValue value={settings.clientId} what="client id" /> },
          { label: "Who may sign in", value: PROVISIONING_TEXT[settings.provisioning] },
          { label: "Only these domains", value: <Names names={settings.allowedDomains} /> },
          { label: "Only these groups", value: <Names names={settings.allowedGroups} /> },
          { label: "Last sign-in", value: <Time at={oidc.last_success_at} /> },
        ]
      : []),
  ];
  return (
    <section>
      <h2>Sign-in</h2>
      {oidc.last_error_reason !== null && <LastError reason={oidc.last_error_reason} />}
      <Facts facts={rows} />
      {settings ? (
        <AsCommand command={["sso", "show"]} api={{ method: "GET", path: "/admin/identity/status" }} />
      ) : (
        <p class="hint">
          No identity provider is configured for sign-in. The setting <code>identity.oidc.issuer</code> names
          one.
        </p>
      )}
    </section>
  );
}

function LastError({ reason }: { reason: string }) {
  const remedy = operatorRemedy(reason);
  const what = isReportedByBrowser(reason) ? (
    <State tone="neutral">A browser returned with an error</State>
  ) : (
    <State tone="bad">The last sign-in failed</State>
  );
  return (
    <p>
      {what} <code>{reason}</code>
      {remedy !== undefined && `: ${remedy}`}
    </p>
  );
}

const Names = ({ names }: { names: readonly string[] }) => (
  <Text value={names.join(", ")} none="no restriction" />
);

/** Values to enter at the provider. */
function Addresses({ facts: { registration, scimUrl } }: { facts: IdentityFacts }) {
  const address = (label: string, value: string | null): Fact[] =>
    value === null ? [] : [{ label, value: <CopyableValue value={value} what={label.toLowerCase()} /> }];
  const rows = [
    ...(registration
      ? [
          ...address("Redirect URI", registration.redirectUri),
          ...address("Redirect URI after signing out", registration.postLogoutRedirectUri),
          ...address("Back-channel logout URI", registration.backchannelLogoutUri),
          ...address("Scopes", registration.scopes.join(" ")),
        ]
      : []),
    ...address("SCIM address", scimUrl),
  ];
  return (
    <section>
      <h2>For the identity provider</h2>
      <p class="hint">
        The provider needs exactly these addresses, and a <a href={TOKENS_PATH}>SCIM token</a>.
      </p>
      <Facts facts={rows} />
    </section>
  );
}

const Users = ({ facts: { sources, scim } }: { facts: IdentityFacts }) => (
  <section>
    <h2>Users by source</h2>
    <table class="rows">
      <caption class="visually-hidden">Users who are not removed, by who manages them</caption>
      <TableHead labels={["Managed by", { number: "Active" }, { number: "Suspended" }]} />
      <tbody>
        {sources.map(({ source, active, suspended }) => (
          <tr key={source}>
            <td data-label="Managed by">
              <a href={`${USERS_PATH}?provisioning_source=${source}`}>{SOURCE_LABELS[source]}</a>
            </td>
            <td data-label="Active" class="number">
              <Count value={active} />
            </td>
            <td data-label="Suspended" class="number">
              <Count value={suspended} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
    <p class="hint">
      The provider has made {scim.groups === 0 ? "no" : <Count value={scim.groups} />}{" "}
      {scim.groups === 1 ? "group" : "groups"}.
    </p>
  </section>
);

const Mappings = ({ mappings }: { mappings: readonly Mapping[] }) => (
  <section>
    <h2>Roles by group</h2>
    {mappings.length === 0 ? (
      <p>
        No group gives a role. The setting <code>scim.group_role_mappings</code> or{" "}
        <code>identity.oidc.group_role_mappings</code> maps groups to roles.
      </p>
    ) : (
      <table class="rows">
        <caption class="visually-hidden">Roles by group</caption>
        <TableHead labels={["Group", "Role of its members", "Setting"]} />
        <tbody>
          {mappings.map(({ group, role, setting }) => (
            <tr key={setting + group}>
              <td data-label="Group">
                <Text value={group} />
              </td>
              <td data-label="Role of its members">{roleText(role)}</td>
              <td data-label="Setting">
                <code>{setting}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </section>
);
