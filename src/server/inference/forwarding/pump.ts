// Passes a response on piece by piece: it neither joins nor splits pieces, and does not read ahead of the client. If the upstream
// dies, the client's connection is reset. A stream that we end gets a last event where one is possible.

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
export interface AnswerReader {
  read(): Promise<Piece>;
}
type Controller = ReadableStreamDefaultController<Uint8Array>;

/** @param first piece that was already read */
export function pump(open: OpenCall, reader: AnswerReader, first?: Uint8Array): ReadableStream<Uint8Array> {
  let ahead = first;
  const start = (controller: Controller) => {
    open.whenStopped((stop) => endEarly(open, stop, controller));
    if (open.isEventStream) open.showHead = () => controller.enqueue(COMMENT);
    const onRead = ({ done, value }: Piece) => {
      if (open.phase === "over") return;
      if (done) (isCutShort(open) ? fail : complete)(open, controller);
      else if (value) pass(open, value, controller);
    };
    const onFailure = () => fail(open, controller);
    read = () => reader.read().then(onRead, onFailure);
  };
  let read: () => Promise<void>;
  const pull = (controller: Controller): Promise<void> | undefined => {
    if (!ahead) return read();
    pass(open, ahead, controller);
    ahead = undefined;
    return undefined;
  };
  const cancel = () => open.stop({ outcome: "client_closed" });
  return new ReadableStream({ start, pull, cancel }, { highWaterMark: 0 });
}

function pass(open: OpenCall, piece: Uint8Array, controller: Controller): void {
  open.showHead = undefined;
  open.passed(piece);
  controller.enqueue(piece);
}

/** Without framing, an upstream that died in the middle of an event looks as if it had finished. */
const isCutShort = (open: OpenCall): boolean =>
  open.isEventStream === true && !open.isFramed && !isBetweenEvents(open.ends?.last(BOUNDARY_BYTES) ?? "");

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
