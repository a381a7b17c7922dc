// Marks keys as due when their users' groups change, because the provisioner receives the groups. The scim area gets this
// function as a dependency.
import type { Clock } from "../../../platform/clock.ts";
import type { GroupsChanged } from "../../scim/service.ts";
import type { GatewayMode } from "../dependencies.ts";
import { makeDue } from "./store.ts";

/** @returns the function; undefined when gateway mode is off */
export const createGroupsChanged = ({
  clock,
  mode,
}: {
  clock: Clock;
  mode: GatewayMode | undefined;
}): GroupsChanged | undefined => mode && ((tx, userIds) => makeDue(tx, { userIds, nowMs: clock.nowMs() }));
