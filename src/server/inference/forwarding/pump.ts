// Passes a response on piece by piece: it neither joins nor splits pieces, and does not read ahead of the client. If
// the upstream dies, the client's connection is reset. A stream that we end gets a last event if possible.

import { ConnectionReset } from "../../listener/connection-reset.ts";
import { BOUNDARY_BYTES, isBetweenEvents, lastEvent } from "./last-event.ts";
import type { OpenCall, Stop } from "./open-call.ts";

/** Sends the head of a stream whose first event is late. */
const COMMENT = new TextEncoder().encode(":\n\n");

/** One piece of a response, or its end. */
export interface Piece {
  done: boolean;
  value?: Uint8Array<ArrayBuffer> | undefined;
}

/** Reads a response; implemented by the stream reader of a response. */
export interface ResponseReader {
  read(): Promise<Piece>;
}
type Controller = ReadableStreamDefaultController<Uint8Array>;

/**
 * Awaits the first piece before the response begins, because the runtime sends the head and a piece in one write if the piece has
 * arrived, and in eight if it comes later.
 * @returns undefined if the head of an event stream must leave without one
 * @throws CallStopped; the runtime's error
 */
export function firstPieceOf(
  open: OpenCall,
  reading: Promise<Piece>,
): Piece | undefined | Promise<Piece | undefined> {
  if (!open.isEventStream || Bun.peek.status(reading) === "fulfilled") return open.orStopped(reading);
  const { promise, resolve, reject } = Promise.withResolvers<Piece | undefined>();
  open.showHead = () => resolve(undefined);
  reading.then(resolve, reject);
  return open.orStopped(promise);
}

/** What was read before the response began. */
export interface Begun {
  /** undefined while it is awaited */
  first: Piece | undefined;
  reading: Promise<Piece>;
}

export function pump(open: OpenCall, reader: ResponseReader, begun: Begun): ReadableStream<Uint8Array> {
  let awaited = begun.first ? undefined : begun.reading;
  let pull: () => Promise<void>;
  const start = (controller: Controller) => {
    const onRead = ({ done, value }: Piece) => {
      if (open.phase === "over") return;
      if (done) (open.isCutShort() ? fail : complete)(open, controller);
      else if (value) pass(open, value, controller);
    };
    const onFailure = () => fail(open, controller);
    pull = () => {
      const reading = awaited ?? reader.read();
      awaited = undefined;
      return reading.then(onRead, onFailure);
    };
    open.showHead = undefined;
    open.whenStopped((stop) => endEarly(open, stop, controller));
    if (begun.first) onRead(begun.first);
    else if (!open.stopped) controller.enqueue(COMMENT);
  };
  const cancel = () => open.stop({ outcome: "client_closed" });
  return new ReadableStream({ start, pull: () => pull(), cancel }, { highWaterMark: 0 });
}

function pass(open: OpenCall, piece: Uint8Array, controller: Controller): void {
  open.passed(piece);
  controller.enqueue(piece);
}

function complete(open: OpenCall, controller: Controller): void {
  controller.close();
  open.finish("complete");
}

function fail(open: OpenCall, controller: Controller): void {
  if (open.phase === "over") return;
  controller.error(new ConnectionReset());
  open.finish("upstream_closed");
}

function endEarly(open: OpenCall, { outcome, reason }: Stop, controller: Controller): void {
  const { dialect } = open.call.entry;
  const isOpenEnded = outcome !== "client_closed" && open.isEventStream;
  if (isOpenEnded && isBetweenEvents(open.ends?.last(BOUNDARY_BYTES) ?? "")) {
    const ending = {
      dialect,
      requestId: open.call.requestId,
      tail: open.ends?.tail().toString("latin1") ?? "",
    };
    controller.enqueue(new TextEncoder().encode(lastEvent(reason, ending)));
    controller.close();
  } else {
    controller.error(new ConnectionReset());
  }
  open.finish(outcome);
}
