// Settings for how long records are kept, and where the audit log is sent: `clients.*`, `invitations.*` and `audit.*`.
import { logReceiver } from "../addresses.ts";
import { integer, path } from "../types.ts";
import { optional, type Settings, sealed, withDefault } from "./setting.ts";

/** The default is a year, which covers any leave and a yearly review. A workstation that returns is listed again. */
const CLIENT_RETENTION_DAYS = { min: 1, max: 3650 };
const INVITATION_RETENTION_DAYS = { min: 1, max: 3650 };
/** at least a month, so that a weekly export misses nothing; at most a hundred years */
export const AUDIT_RETENTION_DAYS = { min: 30, max: 36_500 };

export const RETENTION_SETTINGS = {
  "clients.retention_days": withDefault(
    integer(CLIENT_RETENTION_DAYS),
    "365",
    "days without a report after which a workstation is removed from the inventory",
  ),
  "invitations.retention_days": withDefault(
    integer(INVITATION_RETENTION_DAYS),
    "365",
    "days to keep an invitation after its link expires, whether accepted, canceled or unused",
  ),
  "audit.retention_days": optional(
    integer(AUDIT_RETENTION_DAYS),
    "days to keep entries of the audit log; by default all are kept",
  ),
  "audit.forward.url": optional(
    logReceiver,
    "receiver to which the audit log is sent: JSON lines for an https URL, syslog for syslog+tls://host[:port] (default port: 6514)",
  ),
  "audit.forward.authorization": sealed(
    "audit-forward-authorization",
    "header Authorization for an https receiver, such as Bearer and a token",
  ),
  "audit.forward.ca_file": optional(
    path,
    "PEM file with certificates to trust for the receiver, in addition to the built-in ones",
  ),
  "audit.forward.client_cert": optional(
    path,
    "PEM file with the certificate chain with which this service identifies itself to the receiver",
  ),
  "audit.forward.client_key": optional(path, "PEM file with the private key of that certificate"),
} satisfies Settings;
