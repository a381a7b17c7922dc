// SQL that writes members as JSON text, for groups too large to be read row by row: their rows would fill the memory with
// what is thrown away at once. What it writes is what render.ts writes, and a property test holds both together.
import { and, asc, eq, gt, sql } from "drizzle-orm";
import { type Connection, statement } from "../../../platform/database/database.ts";
import { scimGroupMembers, scimUsers } from "../tables.ts";

const named = sql.placeholder;
const { groupId, userId } = scimGroupMembers;
const { display } = scimUsers;

const shownName = sql`iif(${display} IS NULL, '', ',"display":' || json_quote(${display}))`;
const memberText = sql<string>`'{"value":"' || ${userId} || '","$ref":"' || ${named("usersUrl")} || ${userId}
  || '","type":"User"' || ${shownName} || '}'`;

const selectTexts = statement((connection) => {
  const slice = connection
    .select({ id: userId, text: memberText.as("text") })
    .from(scimGroupMembers)
    .innerJoin(scimUsers, eq(scimUsers.accountId, userId))
    .where(and(eq(groupId, named("groupId")), gt(userId, named("after"))))
    .orderBy(asc(userId))
    .limit(named("limit"))
    .as("slice");
  return connection
    .select({
      text: sql<string | null>`group_concat(${slice.text}, ',' ORDER BY ${slice.id})`,
      last: sql<string | null>`max(${slice.id})`,
    })
    .from(slice)
    .prepare();
});

/** Members of one slice as they are shown where nothing is left out, with commas between them. */
export interface MemberTexts {
  text: string;
  /** id of the last one; undefined for an empty slice */
  last: string | undefined;
}

/**
 * @param asked `after` is the last id of the slice before, or empty text; `usersUrl` is what their ids are appended to
 * @returns members in the order of their ids
 */
export function memberTexts(
  connection: Connection,
  { usersUrl, ...asked }: { groupId: string; after: string; limit: number; usersUrl: string },
): MemberTexts {
  const escaped = JSON.stringify(usersUrl).slice(1, -1);
  const slice = selectTexts(connection).get({ ...asked, usersUrl: escaped });
  return { text: slice?.text ?? "", last: slice?.last ?? undefined };
}
