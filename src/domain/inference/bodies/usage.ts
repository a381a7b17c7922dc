// Reads the token counts of a response from its first and its last bytes. It looks for complete `usage` objects in the formats
// of the three APIs, in event streams and in JSON. Tokens are never estimated.
import type { UsageSource } from "../log/record.ts";
import type { ResponseEnds } from "./response-ends.ts";

export interface Usage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly usageSource: UsageSource;
}

export const NO_USAGE: Usage = {
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  usageSource: "none",
};

type Members = Readonly<Record<string, unknown>>;
type Tokens = Omit<Usage, "usageSource">;

const NO_MEMBERS: Members = {};

/** Number of candidates to try, because tools and metadata may have members with the same name. */
export const CANDIDATES_MAX = 8;
// Searching bytes is ten times as fast as searching text, and most of them never become text.
const KEY = Buffer.from('"usage"');
const MESSAGE_START = Buffer.from('"message_start"');
const MESSAGE_DELTA = Buffer.from('"message_delta"');
/** Matches after the key. */
const BEGIN = /^\s*:\s*\{/;
/**
 * Larger counts are ignored. A stream that ends early may contain a `usage` of the client's own tools; a sum beyond the safe
 * integers could not be stored.
 */
export const TOKENS_MAX = 1_000_000_000;

/**
 * @param isWhole whether the response is complete
 * @returns the last usage; for Anthropic's messages combined with `message_start`, the only one with the input
 */
export function readUsage(ends: ResponseEnds, { isWhole }: { isWhole: boolean }): Usage {
  const tail = ends.tail();
  const last = lastUsage(tail);
  const head = ends.isShort ? tail : ends.head();
  const start = head.includes(MESSAGE_START) ? firstUsage(head) : undefined;
  const usageSource = isWhole ? "reported" : "partial";
  if (!start) {
    const tokens = last ?? firstUsage(head); // a long JSON response may begin with its usage
    return tokens ? usageFrom(tokens, usageSource) : NO_USAGE;
  }
  // The usage of message_start counts the output so far, so a last usage equal to it is not the final one.
  const isFinal = last !== undefined && (tail.includes(MESSAGE_DELTA) || !isSame(last, start));
  if (!isFinal) return { ...start, outputTokens: null, usageSource: "partial" };
  return {
    inputTokens: last.inputTokens ?? start.inputTokens,
    outputTokens: last.outputTokens,
    cacheReadTokens: last.cacheReadTokens ?? start.cacheReadTokens,
    cacheWriteTokens: last.cacheWriteTokens ?? start.cacheWriteTokens,
    usageSource,
  };
}

const usageFrom = (tokens: Tokens, usageSource: UsageSource): Usage => ({
  inputTokens: tokens.inputTokens,
  outputTokens: tokens.outputTokens,
  cacheReadTokens: tokens.cacheReadTokens,
  cacheWriteTokens: tokens.cacheWriteTokens,
  usageSource,
});

const isSame = (one: Tokens, other: Tokens): boolean => JSON.stringify(one) === JSON.stringify(other);

function lastUsage(bytes: Buffer): Tokens | undefined {
  let at = bytes.lastIndexOf(KEY);
  for (let tries = 0; at >= 0 && tries < CANDIDATES_MAX; tries += 1) {
    const tokens = usageAt(bytes, at);
    if (tokens || at === 0) return tokens;
    at = bytes.lastIndexOf(KEY, at - 1);
  }
  return undefined;
}

function firstUsage(bytes: Buffer): Tokens | undefined {
  let at = bytes.indexOf(KEY);
  for (let tries = 0; at >= 0 && tries < CANDIDATES_MAX; tries += 1) {
    const tokens = usageAt(bytes, at);
    if (tokens) return tokens;
    at = bytes.indexOf(KEY, at + 1);
  }
  return undefined;
}

/** @returns the tokens of the object after the key; undefined without an object or counts */
function usageAt(bytes: Buffer, at: number): Tokens | undefined {
  const text = bytes.toString("latin1", at + KEY.length); // the members that are read are ASCII
  const begin = BEGIN.exec(text)?.[0].length;
  if (begin === undefined) return undefined;
  const end = endOfObject(text, begin);
  return end === undefined ? undefined : tokensOf(parse(text.slice(begin - 1, end)));
}

/** @param from position after the opening brace */
function endOfObject(text: string, from: number): number | undefined {
  let depth = 1;
  let isInString = false;
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (isInString) {
      if (character === "\\") at += 1;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === "{") depth += 1;
    else if (character === "}") depth -= 1;
    if (depth === 0) return at + 1;
  }
  return undefined;
}

function parse(text: string): Members {
  try {
    return membersOf(JSON.parse(text));
  } catch {
    return NO_MEMBERS;
  }
}

const isMembers = (value: unknown): value is Members => typeof value === "object" && value !== null;

const membersOf = (value: unknown): Members => (isMembers(value) ? value : NO_MEMBERS);

function tokensOf(usage: Members): Tokens | undefined {
  const details = membersOf(usage.prompt_tokens_details ?? usage.input_tokens_details);
  const inputTokens = countIn(usage.prompt_tokens ?? usage.input_tokens);
  const outputTokens = countIn(usage.completion_tokens ?? usage.output_tokens);
  if (inputTokens === null && outputTokens === null) return undefined;
  return {
    inputTokens,
    outputTokens,
    cacheReadTokens: countIn(usage.cache_read_input_tokens ?? details.cached_tokens),
    cacheWriteTokens: countIn(usage.cache_creation_input_tokens),
  };
}

const countIn = (value: unknown): number | null =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX ? value : null;
