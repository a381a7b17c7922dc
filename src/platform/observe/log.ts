// Writes events, one per line, for a journal or a terminal. log-value.ts decides which parts of a value are shown; the caller's
// `write` decides where the lines go.
import { type Clock, toRfc3339 } from "../clock.ts";
import { LOG_LINE_MEMBERS_MAX, type LogValue, toLogValue, visibleJson } from "./log-value.ts";

/** Maximum UTF-16 units of one line. journald cuts a line at 48 KiB by default; a unit takes at most three bytes. */
export const LOG_LINE_LENGTH_MAX = 16_000;
/** Maximum UTF-16 units of the event in a line that was too long. */
export const CUT_EVENT_LENGTH_MAX = 100;

const LOG_LEVELS = ["debug", "info", "warning", "error"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFormat = "json" | "text";
export type LogFields = Readonly<Record<string, unknown>>;

/** @param fields a function is called only if the line is written */
type Write = (event: string, fields?: LogFields | (() => LogFields)) => void;

/** Events are stable names `area.what`; everything that varies goes into fields. */
export interface Log {
  debug: Write;
  info: Write;
  warning: Write;
  error: Write;
  /** @returns a log that adds `fields` to every line */
  child(fields: LogFields): Log;
}

/** The log of a process; its level also applies to its children. */
export interface AdjustableLog extends Log {
  /** @param level the lowest level to write from now on */
  setLevel(level: LogLevel): void;
}

export interface LogOptions {
  /** the lowest level to write initially */
  level: LogLevel;
  format: LogFormat;
  /** receives one whole line with its line break */
  write: (line: string) => void;
  clock: Clock;
  /** puts the priority of sd-daemon(3) before each line, for `journalctl -p` */
  journald?: boolean;
}

export interface BufferedLines {
  write(line: string): void;
  /** Writes pending lines now: a process that ends has no next turn. */
  flush(): void;
}

/**
 * Writes the lines of one turn of the event loop together; otherwise each request would cost a system call.
 * @param write receives whole lines
 */
export function bufferLines(write: (lines: string) => void): BufferedLines {
  let waiting = "";
  const flush = (): void => {
    const lines = waiting;
    waiting = "";
    if (lines !== "") write(lines);
  };
  return {
    write(line) {
      if (waiting === "") setImmediate(flush);
      waiting += line;
    },
    flush,
  };
}

const PRIORITIES: Record<LogLevel, string> = { debug: "<7>", info: "<6>", warning: "<4>", error: "<3>" };
const OWN_NAMES = ["ts", "level", "event"];

interface Line {
  ts: string;
  level: LogLevel;
  event: string;
  fields: Readonly<Record<string, LogValue>>;
}

/** @returns a log; a field whose name the line itself uses gets a trailing underscore */
export function createLog(options: LogOptions): AdjustableLog {
  const threshold = { rank: LOG_LEVELS.indexOf(options.level) };
  return {
    ...withFields({ ...options, threshold }, {}),
    setLevel: (level) => {
      threshold.rank = LOG_LEVELS.indexOf(level);
    },
  };
}

interface Thresholded extends LogOptions {
  /** shared by all children */
  readonly threshold: { readonly rank: number };
}

function withFields(options: Thresholded, own: LogFields): Log {
  const writer = (level: LogLevel): Write => {
    const rank = LOG_LEVELS.indexOf(level);
    return (event, fields) => {
      if (rank < options.threshold.rank) return;
      const given = typeof fields === "function" ? fields() : fields;
      options.write(lineOf(options, level, { event, fields: [own, given] }));
    };
  };
  return {
    debug: writer("debug"),
    info: writer("info"),
    warning: writer("warning"),
    error: writer("error"),
    child: (fields) => withFields(options, { ...own, ...fields }),
  };
}

/** @param said fields of a later object replace fields of an earlier one */
function lineOf(
  options: LogOptions,
  level: LogLevel,
  said: { event: string; fields: readonly (LogFields | undefined)[] },
): string {
  const showing = {
    stack: level === "error",
    membersLeft: LOG_LINE_MEMBERS_MAX,
  };
  const fields: Record<string, LogValue> = Object.create(null); // `__proto__` is an ordinary name
  for (const given of said.fields) {
    for (const name in given) {
      const value = given[name];
      if (value !== undefined)
        fields[OWN_NAMES.includes(name) ? `${name}_` : name] = toLogValue(value, showing);
    }
  }
  const line = { ts: toRfc3339(options.clock.nowMs()), level, event: said.event, fields };
  const prefix = options.journald ? PRIORITIES[level] : "";
  return `${prefix}${written(line, options.format)}\n`;
}

/** A line beyond the limit keeps its event and its original length. */
function written(line: Line, format: LogFormat): string {
  const write = format === "json" ? jsonLine : textLine;
  const text = write(line);
  if (text.length <= LOG_LINE_LENGTH_MAX) return text;
  return write({
    ...line,
    event: line.event.slice(0, CUT_EVENT_LENGTH_MAX),
    fields: { omitted_length: text.length },
  });
}

const jsonLine = ({ fields, ...own }: Line): string => visibleJson(JSON.stringify({ ...own, ...fields }));

const LEVEL_WORDS = { debug: "DEBUG  ", info: "INFO   ", warning: "WARNING", error: "ERROR  " } as const;

function textLine({ ts, level, event, fields }: Line): string {
  let line = `${ts} ${LEVEL_WORDS[level]} ${word(event)}`;
  for (const name in fields) line += ` ${word(name)}=${word(fields[name] ?? null)}`;
  return line;
}

const word = (value: LogValue): string =>
  typeof value === "string" && /^[\w.:/@+-]+$/.test(value) ? value : visibleJson(JSON.stringify(value));
