// Settings for how long records are kept: `clients.*`, `invitations.*` and `audit.*`.
import { integer } from "../types.ts";
import { always, optional, type Settings } from "./setting.ts";

/** The default is a year: longer than any leave, and the period of yearly reviews. A workstation that returns is listed again. */
const CLIENT_RETENTION_DAYS = { min: 1, max: 3650 };
const INVITATION_RETENTION_DAYS = { min: 1, max: 3650 };
/** at least a month, so that a weekly export misses nothing; at most a hundred years */
export const AUDIT_RETENTION_DAYS = { min: 30, max: 36_500 };

export const RETENTION_SETTINGS = {
  "clients.retention_days": always(
    integer(CLIENT_RETENTION_DAYS),
    "365",
    "days after its last report until a workstation is removed from the inventory",
  ),
  "invitations.retention_days": always(
    integer(INVITATION_RETENTION_DAYS),
    "365",
    "days after its link expired until an invitation is removed, whether accepted, canceled or unused",
  ),
  "audit.retention_days": optional(
    integer(AUDIT_RETENTION_DAYS),
    "days to keep entries of the audit log; by default all are kept",
  ),
} satisfies Settings;
