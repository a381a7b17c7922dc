// Responses with many members: produced from one database snapshot over several turns of the event loop, a few responses at a time.
// Pieces leave as soon as they are produced, and wait for a slow caller, who therefore holds only text (200 bytes per member),
// neither the snapshot nor another caller's turn.
import { setImmediate } from "node:timers/promises";
import pLimit from "p-limit";
import type { Connection } from "../../../platform/database/database.ts";
import type { OpenSnapshot } from "../../../platform/database/snapshot.ts";
import { collectAfterLargeWork, LARGE_CHARACTERS } from "../../../platform/memory/garbage.ts";
import { runInTurns, type Steps } from "../../../platform/steps.ts";
import { ScimError } from "../errors.ts";

export const STREAMS_MAX = 2;
/** maximum number of waiting streams; further ones are refused */
export const STREAMS_WAITING_MAX = 16;
const RETRY_AFTER_SECONDS = 5;
/** Each step reads and renders a slice of members and then gives others a turn. */
const AFTER_EACH_STEP = 0;

/** Takes the next piece of a response. */
export type GivePiece = (piece: string) => void;

/** Creates the pieces of a response from a snapshot of the database. */
export type ProducePieces = (snapshot: Connection, give: GivePiece) => Steps<void>;

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
    let characters = 0;
    for await (const piece of this.#produced(produce)) {
      yield piece;
      characters += piece.length;
      await setImmediate(); // otherwise a fast caller would get all pieces that wait in one turn
    }
    if (characters >= LARGE_CHARACTERS) collectAfterLargeWork(); // earlier, pieces that wait would outlive the collection
  }

  #produced(produce: ProducePieces): ReadableStream<string> {
    const start = async (controller: ReadableStreamDefaultController<string>) => {
      const give = (piece: string) => controller.enqueue(piece); // throws when the caller has left, which ends the work
      await this.#limit(() => this.#produce(produce, give));
      controller.close();
    };
    return new ReadableStream({ start }); // an error of `start` becomes an error of the stream, or is ignored when the caller has left
  }

  async #produce(produce: ProducePieces, give: GivePiece): Promise<void> {
    const { connection, close } = this.openSnapshot();
    try {
      await runInTurns(produce(connection, give), AFTER_EACH_STEP);
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
