// What the domain is made from: the parts of the machine, settings, and observers.
import type { Blobs } from "../platform/blobs/blobs.ts";
import type { Clock } from "../platform/clock.ts";
import type { Passwords } from "../platform/crypto/passwords.ts";
import type { Sealing } from "../platform/crypto/sealing.ts";
import type { Db } from "../platform/database/database.ts";
import type { OpenSnapshot } from "../platform/database/snapshot.ts";
import type { Ids } from "../platform/ids.ts";
import type { Outbound } from "../platform/outbound/outbound.ts";
import type { Secret } from "../platform/secret.ts";
import type { AccessSettings, LimitSettings } from "./access/settings.ts";
import type { Receiver } from "./audit/forwarding/receiver.ts";
import type { Mirroring, RunCatalogTask } from "./catalog/service.ts";
import type { AttemptOwner, GatewayMode, ProvisionerCall } from "./gateway/service.ts";
import type { RunTask } from "./governance/service.ts";
import type { HarnessesInForce } from "./harnesses/harness-facts.ts";
import type { IdentitySettings } from "./identity/service.ts";
import type { RecordsOptions } from "./inference/records.ts";
import type { ProxySettings } from "./inference/settings.ts";
import type { ScimSettings } from "./scim/service.ts";
import type { ObjectStore, SessionSettings, SessionsOptions } from "./sessions/service.ts";
import type { CurrentSsoSettings, SsoObserver } from "./sso/service.ts";

export interface DomainOptions {
  db: Db;
  clock: Clock;
  ids: Ids;
  blobs: Blobs;
  /** of bundles that were uploaded and are not imported yet */
  importBlobs: Blobs;
  /** of captured sessions only */
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
  /** identifies this process in its attempts at gateway keys */
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
  /** repository connections; none when left out */
  mirroring?: Mirroring | undefined;
  records: RecordsOptions;
  settings: DomainSettings;
  secrets: DomainSecrets;
}

export interface DomainSettings {
  access: AccessSettings;
  governance: { requiresSecondAdministrator: boolean };
  limits: LimitSettings;
  identity: IdentitySettings;
  scim: ScimSettings;
  sso: CurrentSsoSettings;
  sessions: SessionSettings;
}

/** Secrets of the configuration, which must not be shown. */
interface DomainSecrets {
  scimToken: Secret | undefined;
}
