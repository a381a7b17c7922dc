// Groups too large for one piece of text: produced in slices from one moment of the database, a turn of the event loop
// for each, and only few at a time. All slices are made before the first is handed out: whoever reads slowly, or not at
// all, holds back text (200 bytes a member) and neither the snapshot nor the turn of another.
import { setImmediate } from "node:timers/promises";
import type { Connection } from "../../../platform/database/database.ts";
import type { OpenSnapshot, Snapshot } from "../../../platform/database/snapshot.ts";
import { collectGarbage } from "../../../platform/memory/garbage.ts";
import { ScimError, scimNotFound } from "../errors.ts";
import { locationOf } from "../messages/messages.ts";
import { groupFrame } from "../messages/render.ts";
import type { View } from "../messages/view.ts";
import type { Named } from "../model.ts";
import { findGroup } from "./groups-store.ts";
import { type MemberTexts, memberTexts } from "./member-texts-store.ts";
import { memberSlice } from "./members-store.ts";

/** members of a group that is still answered in one piece */
export const WHOLE_GROUP_MEMBERS_MAX = 5_000;
export const SLICE_MEMBERS = 1_000;
export const STREAMS_MAX = 2;
/** streams that wait for one of the others to end; one more is refused */
export const STREAMS_WAITING_MAX = 16;
const RETRY_AFTER_SECONDS = 5;

export interface StreamedGroup {
  organizationId: string;
  id: string;
  view: View;
}

/** @source SCIM-122 */
export class GroupStreams {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    private readonly openSnapshot: OpenSnapshot,
    private readonly baseUrl: () => string,
  ) {}

  /**
   * Nothing happens before the first piece is asked for.
   * @returns JSON text in pieces, of the group as it is when its turn comes
   * @throws ScimError 503 here; with the first piece 503, and 404 when the group is gone by then
   */
  open(group: StreamedGroup): AsyncIterable<string> {
    this.#refuseCrowd();
    return this.#pieces(group);
  }

  async *#pieces(group: StreamedGroup): AsyncGenerator<string> {
    const pieces = await this.#produce(group);
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) yield piece;
    collectGarbage();
  }

  async #produce(group: StreamedGroup): Promise<string[]> {
    await this.#takeTurn();
    try {
      const snapshot = this.openSnapshot();
      try {
        return await Array.fromAsync(slices(snapshot, group, this.baseUrl()));
      } finally {
        snapshot.close();
      }
    } finally {
      this.#endTurn();
    }
  }

  async #takeTurn(): Promise<void> {
    if (this.#running < STREAMS_MAX) {
      this.#running += 1;
      return;
    }
    this.#refuseCrowd();
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The turn passes to whoever waits longest. */
  #endTurn(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }

  #refuseCrowd(): void {
    if (this.#waiting.length < STREAMS_WAITING_MAX) return;
    const detail = "too many large groups are being read; try again soon, or leave members out";
    throw new ScimError(503, undefined, detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}

async function* slices(
  { connection }: Snapshot,
  { view, ...group }: StreamedGroup,
  baseUrl: string,
): AsyncGenerator<string> {
  const row = findGroup(connection, group);
  if (!row) throw scimNotFound();
  const { before, member, after } = groupFrame(row, view, baseUrl);
  const read = view.isDefault ? writtenSlice : composedSlice;
  let text = before;
  let last: string | undefined = "";
  while (member && last !== undefined) {
    const asked = { groupId: row.id, after: last, limit: SLICE_MEMBERS };
    const slice = read(connection, asked, { member, baseUrl });
    yield last === "" || slice.last === undefined ? text + slice.text : `${text},${slice.text}`;
    text = "";
    last = slice.last;
    await setImmediate();
  }
  yield text + after;
}

type ReadSlice = (
  connection: Connection,
  asked: { groupId: string; after: string; limit: number },
  shown: { member: (member: Named) => string; baseUrl: string },
) => MemberTexts;

const writtenSlice: ReadSlice = (connection, asked, { baseUrl }) =>
  memberTexts(connection, { ...asked, usersUrl: locationOf("User", "", baseUrl) });

const composedSlice: ReadSlice = (connection, asked, { member }) => {
  const members = memberSlice(connection, asked);
  return { text: members.map(member).join(","), last: members.at(-1)?.id };
};
