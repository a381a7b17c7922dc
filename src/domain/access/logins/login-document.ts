// A login as the API and the commands show it, and the query parameters of its lists. It contains neither secrets nor their hashes.

import { type Static, Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../../platform/clock.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import { isOwnId } from "../../../platform/ids.ts";
import { LOGINS_PER_PAGE_MAX } from "../model.ts";
import type { LoginKind, LoginPage, LoginQuery, LoginState, LoginView } from "./logins.ts";

export const LOGIN_KINDS = ["device_login", "login_session", "grant"] as const satisfies LoginKind[];
const LOGIN_STATES = [
  "pending",
  "approved",
  "refused",
  "redeemed",
  "active",
  "expired",
  "ended",
  "revoked",
] as const satisfies LoginState[];
const METHODS = ["password", "oidc"] as const satisfies LoginView["method"][];
export const LOGIN_SHOWS = ["live", "all"] as const;

const Uuid = Type.String({ format: "uuid" });
const Time = Type.String({ format: "date-time" });
const TimeOrNull = Type.Union([Time, Type.Null()]);
const TextOrNull = Type.Union([Type.String(), Type.Null()]);

const FIELDS = {
  id: Uuid,
  kind: Type.Union(LOGIN_KINDS.map((kind) => Type.Literal(kind))),
  state: Type.Union(LOGIN_STATES.map((state) => Type.Literal(state))),
  user: Type.Union([Type.Object({ id: Uuid, email: Type.String() }), Type.Null()], {
    description: "null until a user opens the device login",
  }),
  address: Type.Union([Type.String(), Type.Null()], { description: "network address of the request" }),
  user_agent: Type.Union([Type.String(), Type.Null()], { description: "browser of a login session" }),
  method: Type.Union([...METHODS.map((method) => Type.Literal(method)), Type.Null()], {
    description:
      "how a login session began: with a password or at the identity provider; null for other kinds",
  }),
  login_session_id: Type.Union([Uuid, Type.Null()], {
    description: "login session that approved a device login or a grant",
  }),
  scopes: Type.Array(Type.String()),
  created_at: Time,
  used_at: Type.Union([Time, Type.Null()], {
    description: "last extension of a login session, last refresh of a grant, decision on a device login",
  }),
  expires_at: Time,
  ended_at: TimeOrNull,
  ended_reason: TextOrNull,
};
const next_cursor = Type.Union([Uuid, Type.Null()], {
  description: "`cursor` of the next page; null on the last",
});

export const Login = Type.Object(FIELDS);
export const LoginList = Type.Object({ items: Type.Array(Login), next_cursor });

const OwnLogin = Type.Object({
  ...FIELDS,
  current: Type.Boolean({ description: "whether the request was made with this login" }),
});
export const OwnLoginList = Type.Object({ items: Type.Array(OwnLogin), next_cursor });

const timeOf = (ms: number | null): string | null => (ms === null ? null : toRfc3339(ms));

/** @returns the login for the API and for `--json` */
export const toLogin = (login: LoginView): Static<typeof Login> => ({
  id: login.id,
  kind: login.kind,
  state: login.state,
  user: login.user,
  address: login.address,
  user_agent: login.userAgent,
  method: login.method,
  login_session_id: login.loginSessionId,
  scopes: [...login.scopes],
  created_at: toRfc3339(login.createdAtMs),
  used_at: timeOf(login.usedAtMs),
  expires_at: toRfc3339(login.expiresAtMs),
  ended_at: timeOf(login.endedAtMs),
  ended_reason: login.endedReason,
});

/** @returns one page of a list for the API */
export const toLoginList = <W>({ items, next }: LoginPage, toItem: (login: LoginView) => W) => ({
  items: items.map(toItem),
  next_cursor: next,
});

/** The query parameters as received. */
export interface SentLoginQuery {
  kind?: string | undefined;
  user_id?: string | undefined;
  show?: string | undefined;
  cursor?: string | undefined;
  limit?: string | undefined;
}

/** @throws DomainError `logins.invalid` that names every problem */
export function readLoginQuery(sent: SentLoginQuery): LoginQuery {
  const problems: Problem[] = [];
  const kind = readWord("kind", { text: sent.kind, words: LOGIN_KINDS, problems });
  const show = readWord("show", { text: sent.show, words: LOGIN_SHOWS, problems });
  const userId = readId("user_id", sent.user_id, problems);
  const after = readId("cursor", sent.cursor, problems);
  const limit = readLimit(sent.limit, problems);
  if (problems.length === 0) return { kind, show, userId, after, limit };
  const message = problems.map(({ detail }) => detail).join("; ");
  throw new DomainError("invalid", "logins.invalid", message, { problems });
}

function readWord<Word extends string>(
  name: string,
  { text, words, problems }: { text: string | undefined; words: readonly Word[]; problems: Problem[] },
): Word | undefined {
  const word = words.find((candidate) => candidate === text);
  if (text !== undefined && word === undefined) {
    problems.push({ pointer: `/${name}`, detail: `${name} must be ${words.join(", ")}` });
  }
  return word;
}

function readId(name: string, text: string | undefined, problems: Problem[]): string | undefined {
  const id = text?.toLowerCase();
  if (id !== undefined && !isOwnId(id))
    problems.push({ pointer: `/${name}`, detail: `${name} must be a UUID` });
  return id;
}

function readLimit(text: string | undefined, problems: Problem[]): number | undefined {
  if (text === undefined) return undefined;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= LOGINS_PER_PAGE_MAX) return limit;
  problems.push({
    pointer: "/limit",
    detail: `limit must be a whole number from 1 to ${LOGINS_PER_PAGE_MAX}`,
  });
  return undefined;
}
