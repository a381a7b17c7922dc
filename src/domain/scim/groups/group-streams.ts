// Responses with many members: produced from one database snapshot over several turns of the event loop, a few responses at a time.
// All pieces are created before the first is returned, so a slow caller holds only text (200 bytes per member), neither the
// snapshot nor another caller's turn.
import { setImmediate } from "node:timers/promises";
import pLimit from "p-limit";
import type { Connection } from "../../../platform/database/database.ts";
import type { OpenSnapshot } from "../../../platform/database/snapshot.ts";
import { LARGE_CHARACTERS, requestCollection } from "../../../platform/memory/garbage.ts";
import { runInTurns, type Steps } from "../../../platform/steps.ts";
import { ScimError } from "../errors.ts";

export const STREAMS_MAX = 2;
/** maximum number of waiting streams; further ones are refused */
export const STREAMS_WAITING_MAX = 16;
const RETRY_AFTER_SECONDS = 5;
/** Each step reads and renders a slice of members and then gives others a turn. */
const AFTER_EACH_STEP = 0;

/** Creates the pieces of a response from a snapshot of the database. */
export type ProducePieces = (snapshot: Connection) => Steps<string[]>;

/** @source SCIM-122 */
export class GroupStreams {
  readonly #limit = pLimit(STREAMS_MAX);

  constructor(private readonly openSnapshot: OpenSnapshot) {}

  /**
   * Starts when the first piece is requested.
   * @returns JSON text in pieces, with the state of the resources when its turn comes
   * @throws ScimError 503 here; with the first piece 503, and errors of `produce`
   */
  open(produce: ProducePieces): AsyncIterable<string> {
    this.#refuseTooManyWaiting();
    return this.#pieces(produce);
  }

  async *#pieces(produce: ProducePieces): AsyncGenerator<string> {
    this.#refuseTooManyWaiting();
    const pieces = await this.#limit(() => this.#produce(produce));
    let characters = 0;
    for (let piece = pieces.shift(); piece !== undefined; piece = pieces.shift()) {
      yield piece;
      characters += piece.length;
      if (pieces.length > 0) await setImmediate(); // otherwise a fast caller would get everything in one turn
    }
    if (characters >= LARGE_CHARACTERS) requestCollection();
  }

  async #produce(produce: ProducePieces): Promise<string[]> {
    const { connection, close } = this.openSnapshot();
    try {
      return await runInTurns(produce(connection), AFTER_EACH_STEP);
    } finally {
      close();
    }
  }

  #refuseTooManyWaiting(): void {
    if (this.#limit.pendingCount < STREAMS_WAITING_MAX) return;
    const detail = "too many large groups are being read; try again soon, or leave members out";
    throw new ScimError(503, undefined, detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}
