// The parts of a LiteLLM-compatible gateway's responses that we use: shapes of successes, messages of errors, and times.
// Unknown members are allowed; a member that is null counts as missing.
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { parseTime } from "../diagnosis.ts";

const nullable = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));
const Text = nullable(Type.String());
const Id = Type.String({ minLength: 1 });
const Metadata = nullable(Type.Record(Type.String(), Type.Unknown()));

export const UserList = Type.Object({
  users: Type.Array(
    Type.Object({
      user_id: Id,
      user_email: Text,
      teams: nullable(Type.Array(Type.Union([Type.String(), Type.Object({ team_id: Text, id: Text })]))),
    }),
  ),
  total_pages: nullable(Type.Integer()),
});
export type UpstreamUser = Static<typeof UserList>["users"][number];

export const KeyList = Type.Object({
  keys: Type.Array(Type.Object({ token: Id, key_alias: Text, metadata: Metadata })),
  total_pages: nullable(Type.Integer()),
});
export type ListedKey = Static<typeof KeyList>["keys"][number];

export const KeyInfo = Type.Object({
  blocked: nullable(Type.Boolean()),
  info: Type.Object({
    blocked: nullable(Type.Boolean()),
    expires: Text,
    created_at: Text,
    metadata: Metadata,
    /** since LiteLLM 1.103, which still returns deleted keys */
    status: Text,
    deleted_at: Text,
  }),
});
export type KeyInfo = Static<typeof KeyInfo>;

export const UpdatedKey = Type.Object({ expires: Text });
export type UpdatedKey = Static<typeof UpdatedKey>;

export const CreatedKey = Type.Object({ key: Id, token: Text, expires: Text });
export type CreatedKey = Static<typeof CreatedKey>;

export const ModelList = Type.Object({
  data: Type.Array(
    Type.Object({
      id: Type.Unknown(),
      display_name: Type.Optional(Type.Unknown()),
      metadata: Type.Optional(Type.Unknown()),
    }),
  ),
});

/** @returns undefined if the text is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Members that contain the message, directly or in an object or list: FastAPI's, and the gateway's own. */
const SENTENCES = ["detail", "error", "message", "msg"] as const;
export const NESTING_MAX = 4;

/** @returns the gateway's message in the body of an error; undefined without one */
export function sentenceOf(body: unknown, nesting = 0): string | undefined {
  if (typeof body === "string") return body;
  if (typeof body !== "object" || body === null || nesting === NESTING_MAX) return undefined;
  const members: Readonly<Record<string, unknown>> = { ...(Array.isArray(body) ? body[0] : body) };
  for (const name of SENTENCES) {
    const sentence = sentenceOf(members[name], nesting + 1);
    if (sentence !== undefined) return sentence;
  }
  return undefined;
}

/**
 * @param text ISO 8601 with a T or a space; UTC if it has no zone
 * @returns UTC milliseconds; null if there is no readable time, so the key is used until the gateway refuses it
 */
export function parseUpstreamTime(text: string | null | undefined): number | null {
  const written = (text ?? "").trim().replace(" ", "T");
  const hasZone = /(?:z|[+-]\d\d:\d\d)$/i.test(written);
  return parseTime(hasZone ? written : `${written}Z`) ?? null;
}
