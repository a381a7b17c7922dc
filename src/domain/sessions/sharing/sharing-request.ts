// Reads a request for sharing: checks every value, and reports all problems together.
import { type Static, Type } from "@sinclair/typebox";
import { pointerOf } from "../../../platform/errors.ts";
import { UUID_PATTERN } from "../../../platform/ids.ts";
import { unknownMember } from "../../../platform/text/object-reader.ts";
import { type ProblemList, quoted } from "../../../platform/text/problem-list.ts";
import { RECIPIENTS_MAX } from "../limits.ts";
import { SHARING_MODES, type SharingMode } from "../model.ts";

/** Only the shape; a value out of range gives 400, a wrong type 422. */
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

const MEMBERS = Object.keys(SessionSharingRequest.properties);

/** @returns the requested sharing, valid only if `problems` stays empty. Each problem names its member and value */
export function readSharing(
  request: SessionSharingRequest,
  facts: SharingFacts,
  problems: ProblemList,
): WantedSharing {
  const { mode: word, user_ids: given = [], ...unknown } = request;
  for (const name of Object.keys(unknown))
    if (!problems.isFull) problems.add(pointerOf([name]), `${quoted(name)} ${unknownMember(name, MEMBERS)}`);
  const mode = SHARING_MODES.find((candidate) => candidate === word);
  if (!mode) problems.add("/mode", `mode must be one of ${SHARING_MODES.join(", ")}, not ${quoted(word)}`);
  if (mode === "selected") return { mode, userIds: readUserIds(given, facts, problems) };
  if (mode && given.length > 0)
    problems.add(
      "/user_ids",
      `user_ids is allowed only with the mode selected, and names ${given.length} with ${mode}`,
    );
  return { mode: mode ?? "private", userIds: [] };
}

function readUserIds(
  given: readonly string[],
  { ownerId, isActiveColleague }: SharingFacts,
  problems: ProblemList,
): string[] {
  const ids = given.map((id) => id.toLowerCase());
  const wanted = [...new Set(ids)].filter((id) => id !== ownerId).sort();
  if (wanted.length === 0)
    problems.add(
      "/user_ids",
      "user_ids must name at least one user besides the owner, who always has access",
    );
  if (wanted.length > RECIPIENTS_MAX) {
    problems.add("/user_ids", `user_ids must name at most ${RECIPIENTS_MAX} users, not ${wanted.length}`);
    return wanted;
  }
  for (const [index, id] of ids.entries()) {
    const isUuid = UUID_PATTERN.test(id);
    if (isUuid && (id === ownerId || isActiveColleague(id))) continue;
    const fault = isUuid ? "is not an active user of the organization" : "is not a UUID";
    problems.add(`/user_ids/${index}`, `${quoted(given[index] ?? "")} ${fault}`);
  }
  return wanted;
}
