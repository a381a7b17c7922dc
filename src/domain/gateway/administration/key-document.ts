// Gateway keys as the API and the commands show them, without secrets, and the query parameters of their list.
import { Type } from "@sinclair/typebox";
import { parseDuration, toRfc3339 } from "../../../platform/clock.ts";
import type { Problem } from "../../../platform/errors.ts";
import {
  keyedEnvelope,
  readLimit,
  readSearchText,
  readUuid,
  readWord,
  refuseProblems,
} from "../../shared/page.ts";
import { type KeyedKeyQuery, type KeyPlace, type KeyView, keyCursor } from "./key-directory.ts";
import { STORED_STATES } from "./stored-states.ts";

const TextOrNull = Type.Union([Type.String(), Type.Null()]);
const TimeOrNull = Type.Union([Type.String({ format: "date-time" }), Type.Null()]);

const FIELDS = {
  user_id: Type.String({ format: "uuid" }),
  email: Type.String(),
  state: Type.String({ description: `${STORED_STATES.join(", ")}; missing for a user without a key` }),
  alias: TextOrNull,
  external_id: Type.Union([Type.String(), Type.Null()], {
    description: "id at the gateway, never the key itself",
  }),
  problem: TextOrNull,
  problem_code: TextOrNull,
  failures: Type.Integer({ minimum: 0, description: "consecutive" }),
  next_attempt_at: TimeOrNull,
  attempt_until: TimeOrNull,
  expires_at: TimeOrNull,
  reconciled_at: TimeOrNull,
  validated_at: TimeOrNull,
  invalidated_at: TimeOrNull,
  invalidation_reason: TextOrNull,
  sealing_key_id: TextOrNull,
};

const ShownGatewayKey = Type.Object(FIELDS);
export const ShownGatewayKeyList = keyedEnvelope(ShownGatewayKey);
export const OneGatewayKey = Type.Object({
  ...FIELDS,
  revocations_pending: Type.Integer({
    minimum: 0,
    description: "number of the user's keys that must still be revoked at the gateway",
  }),
});
export const GatewayKeyChange = Type.Object({ changed: Type.Boolean(), key: ShownGatewayKey });

const timeOf = (ms: number | null): string | null => (ms === null ? null : toRfc3339(ms));

/** @returns the key for the API and for `--json` */
export const keyDocument = (key: KeyView) => ({
  user_id: key.userId,
  email: key.email,
  state: key.state,
  alias: key.alias,
  external_id: key.externalId,
  problem: key.problem,
  problem_code: key.problemCode,
  failures: key.failures,
  next_attempt_at: timeOf(key.nextAttemptAtMs),
  attempt_until: timeOf(key.attemptUntilMs),
  expires_at: timeOf(key.expiresAtMs),
  reconciled_at: timeOf(key.reconciledAtMs),
  validated_at: timeOf(key.validatedAtMs),
  invalidated_at: timeOf(key.invalidatedAtMs),
  invalidation_reason: key.invalidationReason,
  sealing_key_id: key.sealingKeyId,
});

/** The query parameters as received. */
export interface SentKeyQuery {
  q?: string | undefined;
  user_id?: string | undefined;
  state?: string | undefined;
  problem?: string | undefined;
  expires_within?: string | undefined;
  cursor?: string | undefined;
  limit?: string | undefined;
}

/** @throws DomainError `gateway_key.invalid` that names every problem */
export function readKeyQuery(sent: SentKeyQuery): KeyedKeyQuery {
  const problems: Problem[] = [];
  const query = {
    q: readSearchText(sent.q, problems),
    userId: readUuid(sent.user_id, "user_id", problems),
    state: readWord(sent.state, { name: "state", words: STORED_STATES, problems }),
    withProblem: readWord(sent.problem, { name: "problem", words: ["true", "false"], problems }) === "true",
    expiresWithinMs: readWithin(sent.expires_within, problems),
    after: readCursor(sent.cursor, problems),
    limit: readLimit(sent.limit, problems),
  };
  refuseProblems("gateway_key.invalid", problems);
  return query;
}

function readWithin(text: string | undefined, problems: Problem[]): number | undefined {
  const withinMs = text === undefined ? undefined : parseDuration(text);
  if (text !== undefined && withinMs === undefined)
    problems.push({
      pointer: "/expires_within",
      detail: "expires_within must be a time such as 7d, 12h or 30m",
    });
  return withinMs;
}

function readCursor(text: string | undefined, problems: Problem[]): KeyPlace | undefined {
  if (text === undefined) return undefined;
  const [userId = "", address = "", ...more] = text.split(".");
  const place = { userId, email: Buffer.from(address, "base64url").toString() };
  if (more.length === 0 && keyCursor(place) === text) return place;
  problems.push({ pointer: "/cursor", detail: "cursor must be next_cursor of the previous page" });
  return undefined;
}
