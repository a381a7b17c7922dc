// Shows what happens in a demo: JSON lines, or text with the state of the workstations. On a terminal the state is one line that
// changes in place; elsewhere each state is printed on its own line.
import type { DemoEvent } from "../../../src/app/demo/events.ts";
import { toRfc3339 } from "../../../src/platform/clock.ts";
import type { CliCommand } from "../../command.ts";
import type { Context, OutputStream } from "../../context.ts";
import { printable, printableJson } from "../../output/printable.ts";
import { programName } from "../../output/program-name.ts";
import { COLUMNS, eventText, fleetText } from "./text.ts";

const CLEAR_LINE = "\r\u001b[K";

/** Disposing it clears the line that changes. */
export interface Display extends Disposable {
  report(event: DemoEvent): void;
}

/** @returns the display for the options of the command */
export function createDisplay(context: Context, command: CliCommand): Display {
  const isJson = command.opts().json === true;
  return isJson ? jsonDisplay(context) : new TextDisplay(context.stdout, programName(context));
}

const jsonDisplay = ({ stdout, clock }: Context): Display => ({
  report: (event) => {
    const line = { at: toRfc3339(clock.nowMs()), ...event };
    stdout.write(`${printableJson(JSON.stringify(line))}\n`);
  },
  [Symbol.dispose]: () => {},
});

class TextDisplay implements Display {
  readonly #isLive: boolean;
  /** the line that changes; empty for none */
  #state = "";

  constructor(
    private readonly stdout: OutputStream,
    private readonly program: string,
  ) {
    this.#isLive = stdout.isTTY === true;
    if (this.#isLive) this.#draw("Starting the example organization …");
  }

  report = (event: DemoEvent): void => {
    if (event.event === "fleet") this.#draw(fleetText(event));
    if (event.event === "started" || event.event === "removed") this.#state = "";
    const text = eventText(event, this.program);
    if (text !== undefined) this.#print(text.split("\n").map(printable).join("\n"));
  };

  [Symbol.dispose](): void {
    if (this.#isLive && this.#state !== "") this.stdout.write(CLEAR_LINE);
  }

  #draw(text: string): void {
    this.#state = text;
    const columns = this.stdout.columns || COLUMNS; // 0: the terminal does not report its width
    this.stdout.write(this.#isLive ? `${CLEAR_LINE}${text.slice(0, columns - 1)}` : `${text}\n`);
  }

  #print(text: string): void {
    this.stdout.write(this.#isLive ? `${CLEAR_LINE}${text}\n` : `${text}\n`);
    if (this.#isLive) this.#draw(this.#state);
  }
}
