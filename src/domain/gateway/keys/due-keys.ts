// Keys that are due because their users' groups changed: the provisioner is told of groups. A plain function, given to scim as a
// dependency.
import type { Clock } from "../../../platform/clock.ts";
import type { GroupsChanged } from "../../scim/service.ts";
import type { GatewayMode } from "../dependencies.ts";
import { makeDue } from "./store.ts";

/** @returns undefined where gateway mode is off: then nobody need be told */
export const createGroupsChanged = ({
  clock,
  mode,
}: {
  clock: Clock;
  mode: GatewayMode | undefined;
}): GroupsChanged | undefined => mode && ((tx, userIds) => makeDue(tx, { userIds, nowMs: clock.nowMs() }));
