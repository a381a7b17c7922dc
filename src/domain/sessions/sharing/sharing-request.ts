// Reads with whom an owner wants to share: every value is checked here, and all problems are told at once.
import { type Static, Type } from "@sinclair/typebox";
import { type Problem, pointerOf } from "../../../platform/errors.ts";
import { UUID_PATTERN } from "../../../platform/ids.ts";
import { RECIPIENTS_MAX } from "../limits.ts";
import { SHARING_MODES, type SharingMode } from "../model.ts";

/** The shape only; a value out of range is 400, a wrong type 422. */
export const SessionSharingRequest = Type.Object(
  {
    mode: Type.String({ description: SHARING_MODES.join(", ") }),
    user_ids: Type.Optional(
      Type.Array(Type.String(), {
        description: `Only with selected: 1 to ${RECIPIENTS_MAX} active colleagues`,
      }),
    ),
  },
  { additionalProperties: true },
);
export type SessionSharingRequest = Static<typeof SessionSharingRequest>;

export interface WantedSharing {
  mode: SharingMode;
  /** sorted, without the owner and without duplicates */
  userIds: string[];
}

interface SharingFacts {
  ownerId: string;
  isActiveColleague(userId: string): boolean;
}

/** @returns what the owner wants; use it only if `problems` stays empty */
export function readSharing(
  request: SessionSharingRequest,
  { ownerId, isActiveColleague }: SharingFacts,
  problems: Problem[],
): WantedSharing {
  const { mode: word, user_ids: given, ...unknown } = request;
  for (const name of Object.keys(unknown))
    problems.push({ pointer: pointerOf([name]), detail: "unknown member" });
  const mode = SHARING_MODES.find((candidate) => candidate === word);
  if (!mode) problems.push({ pointer: "/mode", detail: `mode must be one of ${SHARING_MODES.join(", ")}` });
  if (mode !== "selected") {
    if (mode && given !== undefined && given.length > 0)
      problems.push({ pointer: "/user_ids", detail: "user_ids is allowed only with the mode selected" });
    return { mode: mode ?? "private", userIds: [] };
  }
  return { mode, userIds: readUserIds(given ?? [], { ownerId, isActiveColleague }, problems) };
}

function readUserIds(
  given: readonly string[],
  { ownerId, isActiveColleague }: SharingFacts,
  problems: Problem[],
): string[] {
  const ids = given.map((id) => id.toLowerCase());
  const wanted = [...new Set(ids)].filter((id) => id !== ownerId).sort();
  if (wanted.length === 0 || wanted.length > RECIPIENTS_MAX) {
    const detail = `user_ids must name 1 to ${RECIPIENTS_MAX} users other than the owner`;
    problems.push({ pointer: "/user_ids", detail });
  }
  if (wanted.length > RECIPIENTS_MAX) return wanted;
  for (const [index, id] of ids.entries()) {
    const isUuid = UUID_PATTERN.test(id);
    if (isUuid && (id === ownerId || isActiveColleague(id))) continue;
    const detail = isUuid ? "no active user of the organization" : "must be a UUID";
    problems.push({ pointer: `/user_ids/${index}`, detail });
  }
  return wanted;
}
