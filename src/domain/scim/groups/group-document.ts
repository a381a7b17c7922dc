// Groups and their members as the API and the commands show them.
import { Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../../platform/clock.ts";
import { pageEnvelope } from "../../shared/page.ts";
import type { GroupRow } from "../model.ts";
import type { MemberView } from "./group-directory.ts";

/** Provisioning source of every group: only identity providers create groups. Users have the same member. */
export const GROUP_SOURCE = "scim";

const Uuid = Type.String({ format: "uuid" });
const Time = Type.String({ format: "date-time" });

const FIELDS = {
  id: Uuid,
  display_name: Type.String(),
  external_id: Type.Union([Type.String(), Type.Null()]),
  member_count: Type.Integer({ minimum: 0 }),
  provisioning_source: Type.Literal(GROUP_SOURCE),
  created_at: Time,
  updated_at: Time,
};
const Member = Type.Object({
  id: Uuid,
  user_name: Type.String({ description: "name at the identity provider" }),
  label: Type.String(),
  active: Type.Boolean(),
});

export const GroupPage = pageEnvelope(Type.Object(FIELDS));
export const OneGroup = Type.Object({ ...FIELDS, members: pageEnvelope(Member) });

/** @returns the group for the API and for `--json` */
export const groupDocument = (group: GroupRow) => ({
  id: group.id,
  display_name: group.displayName,
  external_id: group.externalId,
  member_count: group.memberCount,
  provisioning_source: GROUP_SOURCE,
  created_at: toRfc3339(group.createdAtMs),
  updated_at: toRfc3339(group.updatedAtMs),
});

/** @returns the member for the API and for `--json` */
export const memberDocument = ({ id, userName, label, active }: MemberView) => ({
  id,
  user_name: userName,
  label,
  active,
});
