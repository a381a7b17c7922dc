// Joins database, clock, keys and areas. The only place where parts are connected; the HTTP interface and the commands use the result.
import type { Blobs } from "../platform/blobs/blobs.ts";
import type { Clock } from "../platform/clock.ts";
import type { Passwords } from "../platform/crypto/passwords.ts";
import type { Sealing } from "../platform/crypto/sealing.ts";
import type { Connection, Db } from "../platform/database/database.ts";
import type { OpenSnapshot } from "../platform/database/snapshot.ts";
import type { Ids } from "../platform/ids.ts";
import type { Outbound } from "../platform/outbound/outbound.ts";
import type { Secret } from "../platform/secret.ts";
import { SEMANTIC_VERSION } from "../platform/version.ts";
import { createInspectionBudget } from "./access/budgets/inspection-budget.ts";
import { createLinkBudget } from "./access/budgets/link-budget.ts";
import { endGrants, endLoginSessions, endLogins, endProviderSessions } from "./access/logins/end-logins.ts";
import { confirmedAudit } from "./access/second-factor/confirmed-audit.ts";
import { removeFactors } from "./access/second-factor/factor-reset.ts";
import { type Access, createAccess } from "./access/service.ts";
import type { AccessSettings, LimitSettings } from "./access/settings.ts";
import { forgetGuesses } from "./access/sign-in/password-guesses.ts";
import { AuditForwarding } from "./audit/forwarding/forwarding.ts";
import type { Receiver } from "./audit/forwarding/receiver.ts";
import { AuditLog } from "./audit/log.ts";
import { createAudit } from "./audit/service.ts";
import { Backups } from "./backup/service.ts";
import type { Mirroring, RunCatalogTask } from "./catalog/service.ts";
import { createCatalog } from "./catalog/service.ts";
import { type ClientsDependencies, createClients } from "./clients/service.ts";
import { Preferences } from "./console/service.ts";
import { personalDataOf } from "./erasers.ts";
import { Erasure } from "./erasure/service.ts";
import { createInference } from "./gateway/inference/inference.ts";
import { createGroupsChanged } from "./gateway/keys/due-keys.ts";
import { createKeyRetirement } from "./gateway/keys/key-retirement.ts";
import type { AttemptOwner, ProvisionerCall } from "./gateway/service.ts";
import { createGateway, type GatewayMode } from "./gateway/service.ts";
import { openPackages } from "./governance/additions/open-packages.ts";
import { ArtifactLinks } from "./governance/delivery/artifact-links.ts";
import { createDelivery } from "./governance/delivery/delivery.ts";
import { presignUrlAt } from "./governance/delivery/upload-address.ts";
import type { RunTask } from "./governance/service.ts";
import { createGovernance, type GovernanceSettings } from "./governance/service.ts";
import { checkVersion } from "./governance/versions/versions.ts";
import { BUILT_IN, type HarnessesInForce, HarnessFacts } from "./harnesses/harness-facts.ts";
import { Idempotency } from "./idempotency/service.ts";
import { createIdentity, type IdentitySettings } from "./identity/service.ts";
import type { RecordsOptions } from "./inference/records.ts";
import { createRecords } from "./inference/records.ts";
import { createAdmission, createModels } from "./inference/service.ts";
import type { ProxySettings } from "./inference/settings.ts";
import type { ScimSettings } from "./scim/service.ts";
import {
  accountByExternalId,
  createScim,
  groupNamesOf,
  hasExternalId,
  userGroupsIn,
} from "./scim/service.ts";
import { secretsOf } from "./sealed-values.ts";
import type { ObjectStore, SessionSettings } from "./sessions/service.ts";
import { createSessions, type SessionsOptions } from "./sessions/service.ts";
import type { Actor } from "./shared/actor.ts";
import { removeExpectations } from "./sso/identities/expected-store.ts";
import { createRemoveIdentities } from "./sso/identities/unlinking.ts";
import type { CurrentSsoSettings, SsoObserver } from "./sso/service.ts";
import { createIsConfirmed, createSso, type SsoDependencies } from "./sso/service.ts";
import { createBranding } from "./system/branding.ts";
import { createExports } from "./system/exports.ts";
import { Health } from "./system/health.ts";
import { createJobs } from "./system/jobs.ts";
import { SealingKeys } from "./system/sealing-keys.ts";
import { createUntrustedProxies } from "./system/untrusted-proxies.ts";

export interface DomainOptions {
  db: Db;
  clock: Clock;
  ids: Ids;
  blobs: Blobs;
  /** uploaded bundles that are not imported yet */
  importBlobs: Blobs;
  /** objects of captured sessions only */
  sessionBlobs: Blobs;
  /** undefined unless an S3-compatible store is configured */
  s3Objects?: ObjectStore | undefined;
  transcriptReader?: SessionsOptions["transcriptReader"];
  sealing: Sealing;
  passwords: Passwords;
  openSnapshot: OpenSnapshot;
  outbound: Outbound;
  /** undefined if the audit log is not sent anywhere */
  auditReceiver?: Receiver | undefined;
  /** undefined if gateway mode is off */
  gatewayMode: GatewayMode | undefined;
  /** undefined unless this service forwards inference requests */
  proxySettings?: ProxySettings | undefined;
  /** identifies this process in its attempts to create gateway keys */
  attemptsBy: AttemptOwner;
  observeProvisioner(call: ProvisionerCall): void;
  /** receives requests to the identity provider and results of sign-ins, for metrics */
  observeSso?: SsoObserver | undefined;
  /** runs long work on policies: governance/tasks.ts */
  runTask: RunTask;
  /** the same for catalog files: catalog/tasks.ts */
  runCatalogTask?: RunCatalogTask | undefined;
  /** reads the configured harness file; without it only the program's facts apply */
  readHarnesses?: (() => HarnessesInForce) | undefined;
  /** repository connections; none if omitted */
  mirroring?: Mirroring | undefined;
  records: RecordsOptions;
  settings: DomainSettings;
  /** secrets of the configuration, which must not be shown */
  secrets: { scimToken: Secret | undefined };
}

interface DomainSettings {
  access: AccessSettings;
  governance: { requiresSecondAdministrator: boolean; formerRevisionsServed: number };
  limits: LimitSettings;
  identity: IdentitySettings;
  scim: ScimSettings;
  sso: CurrentSsoSettings;
  sessions: SessionSettings;
}

export type Domain = ReturnType<typeof openDomain>;

/** @returns the operations of every area */
export function openDomain(options: DomainOptions) {
  const { shared, gatewayParts, machine, records, ...areas } = openAreas(options);
  const { identity, access, governance, auditLog, harnesses, sessions, gateway, inference } = areas;
  const { settings, secrets, gatewayMode } = options;
  return {
    ...areas,
    ...openPackages(shared, { governance, harnesses, spendInspection: createInspectionBudget(machine) }),
    delivery: createDelivery({
      ...shared,
      ...governance,
      gateway: gatewayMode && { keys: gateway.keys, tokens: inference.tokens },
    }),
    artifactLinks: new ArtifactLinks({
      ...shared,
      ...governance,
      formerRevisionsServed: () => settings.governance.formerRevisionsServed,
    }),
    clients: openClients(shared, { identity, governance, harnesses, gateway }),
    branding: createBranding({ ...shared, identity }),
    scim: createScim({
      ...shared,
      accounts: identity.provisioned,
      groupsChanged: createGroupsChanged(gatewayParts),
      settings: settings.scim,
      configuredToken: secrets.scimToken,
      organization: () => identity.organization()?.id,
    }),
    sso: openSso({ ...shared, auditLog }, { identity, access, settings: settings.sso }),
    /** undefined unless this service forwards inference requests */
    admission: createAdmission(
      { ...gatewayParts, inference, gatewayKeys: gateway.keys, budgets: records.usage },
      machine.proxySettings,
    ),
    ...createModels({ ...shared, identity, gateway, governance, harnesses }),
    ...records,
    erasure: new Erasure({ ...shared, identity, ...personalDataOf(shared, records) }),
    auditForwarding: new AuditForwarding({ ...shared, auditLog }),
    backups: new Backups(shared),
    health: new Health({ ...shared, gateway, sessions, proxyHealth: inference.proxyHealth }),
    jobs: createJobs(shared),
    exports: createExports(shared),
    preferences: new Preferences(shared),
    untrustedProxies: createUntrustedProxies(machine),
    sealingKeys: new SealingKeys({ ...gatewayParts, secrets: secretsOf(machine) }),
  };
}

/** @returns the areas that other areas need, and shared parts */
function openAreas({
  settings,
  secrets: _,
  gatewayMode,
  observeProvisioner,
  records: recording,
  ...machine
}: DomainOptions) {
  const requireConfirmation = (connection: Connection, actor: Actor) =>
    access.requireConfirmation(connection, actor);
  const audit = confirmedAudit(createAudit(machine), requireConfirmation);
  const idempotency = new Idempotency(machine);
  const shared = { ...machine, audit, idempotency, userGroups: userGroupsIn(machine.db) };
  const { limits } = settings;
  const isInstalled = () => identity.organization() !== undefined;
  const addressOf = (id: string) => identity.findUserById(machine.db.read, id)?.email;
  const auditLog = new AuditLog({ ...shared, isInstalled, addressOf });
  const { readHarnesses = () => BUILT_IN } = machine;
  const harnesses = new HarnessFacts({ ...shared, auditLog, read: readHarnesses });
  const identity = createIdentity({
    ...shared,
    endLogins,
    retireGatewayKey: createKeyRetirement(machine),
    forgetGuesses,
    removeFactors,
    removeIdentities: createRemoveIdentities(shared),
    removeExpectations,
    spendLink: createLinkBudget({ ...machine, limits }),
    settings: settings.identity,
  });
  const isConfirmed = createIsConfirmed(settings.sso);
  const access = createAccess({ ...shared, identity, settings: settings.access, limits, isConfirmed });
  const catalog = createCatalog(shared);
  const gatewayParts = { ...shared, identity, mode: gatewayMode, requireConfirmation };
  const gateway = createGateway({ ...gatewayParts, groupsOf, observe: observeProvisioner });
  const governance = createGovernance({
    ...shared,
    identity,
    catalog,
    harnesses,
    settings: governanceSettingsOf(gatewayMode, settings),
  });
  const inference = createInference({
    ...gatewayParts,
    keys: gateway.keys,
    loginOf: access.standingLogin,
    loginExpiryOf: access.loginExpiryOf,
    loginWatch: access.loginWatch,
  });
  const sessions = createSessions({
    ...shared,
    identity,
    governance,
    settings: settings.sessions,
    harnesses: () => harnesses.harnesses(),
  });
  const records = createRecords({ ...machine, identity, ...recording });
  return {
    idempotency,
    identity,
    access,
    catalog,
    governance,
    auditLog,
    harnesses,
    sessions,
    gateway,
    inference,
    shared,
    gatewayParts,
    machine,
    records,
  };
}

/** Clients evaluate reports against the current policy and harness facts, and end the logins of removed workstations. */
const openClients = (
  shared: Pick<ClientsDependencies, "db" | "clock" | "ids" | "audit" | "userGroups">,
  {
    harnesses,
    gateway,
    ...areas
  }: Pick<ClientsDependencies, "identity" | "governance"> & {
    harnesses: HarnessFacts;
    gateway: Pick<ReturnType<typeof createGateway>, "countKeys">;
  },
) =>
  createClients({
    ...shared,
    ...areas,
    harnesses: () => harnesses.harnesses(),
    checkVersion: (...question) => checkVersion(harnesses.harnesses(), ...question),
    endLogin: { sessions: endLoginSessions, grants: endGrants },
    countKeys: gateway.countKeys,
  });

const governanceSettingsOf = (
  gatewayMode: GatewayMode | undefined,
  { sessions, governance }: Pick<DomainSettings, "sessions" | "governance">,
): GovernanceSettings => ({
  gatewayType: gatewayMode?.settings.type,
  serverVersion: SEMANTIC_VERSION,
  presignUrl: () => presignUrlAt(sessions.baseUrl()),
  requiresSecondAdministrator: () => governance.requiresSecondAdministrator,
});

/** Company sign-in opens login sessions, and ends them when the provider requests it. */
const openSso = (
  shared: Pick<
    SsoDependencies,
    "db" | "clock" | "ids" | "audit" | "auditLog" | "sealing" | "outbound" | "observeSso"
  >,
  { access, ...areas }: Pick<SsoDependencies, "identity" | "settings"> & { access: Access },
) => {
  const ends = { endLogins, endProviderSessions };
  const provisioned = { accountByExternalId, hasExternalId };
  const origin = access.settings.baseUrl;
  return createSso({ ...shared, ...areas, ...ends, origin, ...provisioned, sessions: access.sessions });
};

const groupsOf = (connection: Connection, userId: string) => groupNamesOf(connection, { userId });
