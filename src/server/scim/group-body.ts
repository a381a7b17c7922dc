// Reads the body of a group. A large one is checked, parsed and passed on in slices as it arrives. It is refused
// at the first problem, no turn of the event loop is long, and neither its text nor its members stay in memory.
import { setImmediate } from "node:timers/promises";
import { type ScimError, scimInvalid } from "../../domain/scim/errors.ts";
import type { LongMemberList, MemberIntake } from "../../domain/scim/groups/member-intake.ts";
import {
  type ListSlice,
  type LongListProblem,
  LongLists,
  PART_CHARACTERS_MAX,
} from "../../platform/json/long-lists.ts";
import { type JsonLimits, measureJson } from "../../platform/json/structure.ts";
import { collectNewGarbage } from "../../platform/memory/garbage.ts";
import { runInTurns, type Steps } from "../../platform/steps.ts";
import {
  declaredLengthOf,
  ONE_TURN_CHARACTERS_MAX,
  parseCheckedText,
  pieceDecoder,
  readPieces,
} from "../http/bodies/body-text.ts";
import {
  limitsOf,
  malformed,
  parseObject,
  readScimBody,
  refuseOtherMessages,
  SCIM_BYTES_MAX,
  SCIM_VALUES_MAX,
} from "./body.ts";

/** Maximum characters of a group's body without its long lists of members: the limit of other bodies. */
export const GROUP_REST_CHARACTERS_MAX = 2 * 1024 * 1024;

/**
 * Bytes of a body between two collections of young garbage: their elements and ids leave ten times as much. Collections take place
 * between two pieces, because steps that run hold the elements of their last slice, which would outlive the collection.
 */
const COLLECTED_EVERY_BYTES = 256 * 1024;

/**
 * @param intake takes the long lists of members
 * @returns one JSON object; values of the intake replace these lists
 * @throws HttpError 413, 415; ScimError 400 `invalidSyntax`, and the errors of the intake
 */
export async function readGroupBody(request: Request, intake: MemberIntake): Promise<object> {
  if (declaredLengthOf(request) <= ONE_TURN_CHARACTERS_MAX) return await readScimBody(request, "scim-group");
  refuseOtherMessages(request);
  const message = new ArrivingMessage(intake);
  const decode = pieceDecoder();
  let refusal: unknown;
  let uncollected = 0;
  for await (const bytes of readPieces(request, SCIM_BYTES_MAX["scim-group"])) {
    if (refusal !== undefined) continue; // discards the rest, so that the caller reads the response and can keep the connection
    try {
      await runInTurns(message.add(decode(bytes, { stream: true })));
      await setImmediate(); // otherwise all pieces that have arrived would be handled in one turn
      uncollected += bytes.length;
      if (uncollected < COLLECTED_EVERY_BYTES) continue;
      collectNewGarbage();
      uncollected = 0;
    } catch (error) {
      refusal = error;
    }
  }
  if (refusal !== undefined) throw refusal;
  await runInTurns(message.add(decode(new Uint8Array())));
  return await message.end();
}

class ArrivingMessage {
  readonly #text: LongLists;
  readonly #lists: LongMemberList[] = [];
  readonly #counts = { values: 0, shapes: 0, largeObjectMembers: 0 };

  constructor(private readonly intake: MemberIntake) {
    const isWanted = (name: string, depth: number) => intake.isMemberList(name, depth);
    this.#text = new LongLists({ isWanted, restMax: GROUP_REST_CHARACTERS_MAX, errorOf });
  }

  /** @throws ScimError */
  *add(text: string): Steps<void> {
    for (const slice of this.#text.add(text)) {
      yield* this.#takeSlice(slice);
      yield;
    }
  }

  /** @throws ScimError */
  async end(): Promise<object> {
    const limits = this.#limitsAt(0);
    const restMax = this.#counts.values + SCIM_VALUES_MAX.scim; // values outside the lists, with the limit of other bodies
    const valuesMax = Math.min(limits.valuesMax, restMax);
    const { message } = await parseObject(this.#text.end(), { ...limits, valuesMax });
    if (this.#lists.length > 0) this.#putBack(message);
    return message;
  }

  #limitsAt(depth: number): JsonLimits {
    return { ...limitsOf(SCIM_VALUES_MAX["scim-group"]), before: { ...this.#counts, depth } };
  }

  *#takeSlice({ list, depth, text, count, at }: ListSlice): Steps<void> {
    const json = `[${text}]`;
    const limits = this.#limitsAt(depth);
    const { flaw, counts } = measureJson(json, limits);
    if (flaw?.kind === "syntax") flaw.at += at - 1;
    Object.assign(this.#counts, counts, { values: counts.values - 1 }); // the rest counts the list itself as one value
    const elements = parseCheckedText(json, { limits, flaw, errorOf: malformed });
    if (!Array.isArray(elements) || elements.length !== count) throw errorOf("end");
    this.#lists[list] ??= this.intake.open({ depth, before: this.#text.rest() });
    yield* this.#lists[list].take(elements);
  }

  /** The lists are members of objects. */
  #putBack(part: object): void {
    if (Array.isArray(part)) {
      for (const element of part) if (typeof element === "object" && element !== null) this.#putBack(element);
      return;
    }
    for (const [name, value] of Object.entries(part)) {
      const list = this.#listFor(value);
      if (list) Reflect.set(part, name, list.value);
      else if (typeof value === "object" && value !== null) this.#putBack(value);
    }
  }

  #listFor(value: unknown): LongMemberList | undefined {
    const { placeholder } = this.#text;
    if (typeof value !== "string" || !value.startsWith(placeholder)) return undefined;
    return this.#lists[Number(value.slice(placeholder.length))];
  }
}

const PROBLEMS = {
  part: `a text of the body, or an entry of a list of members, has more than ${PART_CHARACTERS_MAX} characters`,
  rest: `the body has more than ${GROUP_REST_CHARACTERS_MAX} characters beside its lists of members`,
  end: "the body is not valid JSON: a list of members is malformed",
} as const;

const errorOf = (problem: LongListProblem): ScimError => scimInvalid("invalidSyntax", PROBLEMS[problem]);
