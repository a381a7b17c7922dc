// Formats users and invitations as table columns and text.
import {
  type Invitation,
  toAdminInvitation,
  toAdminUser,
  type User,
} from "../../../src/domain/identity/model.ts";
import { colorOf } from "../../output/color.ts";
import { detailsText, type Fact } from "../../output/details.ts";
import type { Column } from "../../output/table.ts";

export const USER_COLUMNS: readonly Column<User>[] = [
  { header: "EMAIL", value: ({ email }) => email },
  { header: "ROLE", value: ({ role }) => role },
  { header: "STATUS", value: ({ status }) => status, color: ({ status }) => colorOf(status) },
  { header: "SOURCE", value: ({ provisioningSource }) => provisioningSource },
  { header: "CREATED", value: ({ createdAtMs }) => new Date(createdAtMs) },
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "SUBJECT", value: ({ subject }) => subject, isWide: true },
  { header: "PROTECTED", value: (user) => (user.protected ? "yes" : "no"), isWide: true },
  { header: "UPDATED", value: ({ updatedAtMs }) => new Date(updatedAtMs), isWide: true },
];

/** @returns every fact about a user, one per line */
export const userText = (user: User): string => factsText(toAdminUser(user));

/** @param nowMs UTC milliseconds; decides whether a pending invitation shows as expired */
export const invitationColumns = (nowMs: number): readonly Column<Invitation>[] => [
  { header: "EMAIL", value: ({ email }) => email },
  { header: "ROLE", value: ({ role }) => role },
  { header: "STATUS", value: (invitation) => toAdminInvitation(invitation, nowMs).status },
  { header: "EXPIRES", value: ({ expiresAtMs }) => new Date(expiresAtMs) },
  { header: "INVITED BY", value: ({ inviterEmail }) => inviterEmail },
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "CREATED", value: ({ createdAtMs }) => new Date(createdAtMs), isWide: true },
];

/** @returns every fact about an invitation, one per line */
export const invitationText = (invitation: Invitation, nowMs: number): string =>
  factsText(toAdminInvitation(invitation, nowMs));

const factsText = (document: Readonly<Record<string, Fact[1]>>): string =>
  detailsText(Object.entries(document).map(([name, value]) => [name.replaceAll("_", " "), value]));
