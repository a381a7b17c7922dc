// Finds duplicate names in the objects of a JSON text, and counts what makes objects costly. Objects with the same names in the
// same order have one shape. The runtime describes each shape once, but every object with many members separately. A known
// shape has no duplicates, so most objects need only one lookup in a small table.

import { JsonNames, mixHash } from "./names.ts";

/** Limit on shapes of objects in one text, in JSON and YAML: the runtime takes about a microsecond for each. */
export const OBJECT_SHAPES_MAX = 10_000;
/** Number of members that form the shape of an object; further ones count as members of large objects. */
export const SHAPE_MEMBERS_MAX = 64;
/** Limit on members of large objects in one text, in JSON and YAML: the runtime takes about half a microsecond for each. */
export const LARGE_OBJECT_MEMBERS_MAX = 30_000;
/**
 * How many members of large objects an object with a whole number as a name counts for. The runtime stores such members in an array
 * with a slot for every smaller number, up to 8 KB.
 */
export const NUMBERED_OBJECT_MEMBERS = 8;

/** @returns whether the runtime treats the name as a list index */
const isNumberName = (name: string): boolean => /^(?:0|[1-9]\d{0,9})$/.test(name);

/** Shape of an object without members. */
const EMPTY_SHAPE = 0;
const SLOTS_MIN = 64;

/** An object that is being read. */
export class OpenObject {
  /** number of members so far */
  members = 0;
  /** index of the opening quote of its last name */
  lastName = 0;
  shape = EMPTY_SHAPE;
  /** whether one of its names is a whole number */
  isNumbered = false;
  /** names of a large object, in the form that is compared for duplicates */
  names: Set<string> | undefined;
}

/** The objects of one text. A shape has a number and consists of the shape before its last member and that member's name. */
export class ObjectShapes {
  largeObjectMembers = 0;
  readonly #names: JsonNames;
  readonly #before = [EMPTY_SHAPE];
  /** index of the opening quote of the last name */
  readonly #starts = [0];
  readonly #hashes = [0];
  /** the last name, in the form that is compared for duplicates */
  readonly #nameHashes = [0];
  /** whether the last name is a whole number */
  readonly #isNumber = [false];
  /** Hash table of shapes; EMPTY_SHAPE marks a free slot. The number of slots is a power of two. */
  #slots: Int32Array = new Int32Array(SLOTS_MIN);

  /** @param foldsCase whether names that differ only in case are duplicates */
  constructor(
    text: string,
    private readonly foldsCase: boolean,
  ) {
    this.#names = new JsonNames(text);
  }

  get size(): number {
    return this.#starts.length - 1;
  }

  /**
   * @param start index of the opening quote of the name
   * @returns false if the object already has the name
   */
  add(start: number, object: OpenObject): boolean {
    object.members += 1;
    object.lastName = start;
    if (object.members > SHAPE_MEMBERS_MAX) return this.#addToLarge(start, object);
    const hash = this.#names.hashAt(start, false);
    const nameHash = this.foldsCase ? this.#names.hashAt(start, true) : hash;
    const key = mixHash(hash, object.shape);
    const known = this.#find(key, start, object.shape);
    if (known === EMPTY_SHAPE && this.#has(object.shape, start, nameHash)) return false;
    object.shape = known === EMPTY_SHAPE ? this.#create(key, object.shape, { start, nameHash }) : known;
    if (this.#isNumber[object.shape]) this.#countNumbered(object);
    return true;
  }

  #find(key: number, start: number, before: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = key & mask; ; slot = (slot + 1) & mask) {
      const shape = slots[slot] ?? EMPTY_SHAPE;
      if (shape === EMPTY_SHAPE) return EMPTY_SHAPE;
      if (this.#hashes[shape] !== key || this.#before[shape] !== before) continue;
      if (this.#names.isSame(this.#starts[shape] ?? 0, start, false)) return shape;
    }
  }

  #has(ofShape: number, start: number, nameHash: number): boolean {
    for (let shape = ofShape; shape !== EMPTY_SHAPE; shape = this.#before[shape] ?? EMPTY_SHAPE) {
      if (this.#nameHashes[shape] !== nameHash) continue;
      if (this.#names.isSame(this.#starts[shape] ?? 0, start, this.foldsCase)) return true;
    }
    return false;
  }

  #create(key: number, before: number, { start, nameHash }: { start: number; nameHash: number }): number {
    const shape = this.#starts.length;
    this.#before.push(before);
    this.#starts.push(start);
    this.#hashes.push(key);
    this.#nameHashes.push(nameHash);
    this.#isNumber.push(isNumberName(this.#names.nameAt(start, false)));
    if (shape * 2 > this.#slots.length) this.#widen();
    this.#slots[freeSlot(this.#slots, key)] = shape;
    return shape;
  }

  #widen(): void {
    this.#slots = new Int32Array(this.#slots.length * 2);
    for (let shape = 1; shape < this.#starts.length - 1; shape += 1)
      this.#slots[freeSlot(this.#slots, this.#hashes[shape] ?? 0)] = shape;
  }

  #addToLarge(start: number, object: OpenObject): boolean {
    this.largeObjectMembers += 1;
    object.names ??= this.#namesOf(object.shape);
    const members = object.names.size;
    const name = this.#names.nameAt(start, this.foldsCase);
    if (isNumberName(name)) this.#countNumbered(object);
    return object.names.add(name).size > members;
  }

  #countNumbered(object: OpenObject): void {
    if (!object.isNumbered) this.largeObjectMembers += NUMBERED_OBJECT_MEMBERS;
    object.isNumbered = true;
  }

  #namesOf(ofShape: number): Set<string> {
    const names = new Set<string>();
    for (let shape = ofShape; shape !== EMPTY_SHAPE; shape = this.#before[shape] ?? EMPTY_SHAPE)
      names.add(this.#names.nameAt(this.#starts[shape] ?? 0, this.foldsCase));
    return names;
  }
}

/** The shapes of objects with string names, as a YAML reader creates them. */
export class NamedShapes {
  /** by the shape before the last member and that member's name */
  readonly #shapes = new Map<string, number>();

  get size(): number {
    return this.#shapes.size;
  }

  /** @param names of one object, each once @returns how many members of large objects it counts as */
  add(names: readonly string[]): number {
    let shape = EMPTY_SHAPE;
    for (const name of names.length > SHAPE_MEMBERS_MAX ? names.slice(0, SHAPE_MEMBERS_MAX) : names) {
      const key = `${shape} ${name}`;
      const known = this.#shapes.get(key);
      shape = known ?? this.#shapes.size + 1;
      if (known === undefined) this.#shapes.set(key, shape);
    }
    const numbered = names.some(isNumberName) ? NUMBERED_OBJECT_MEMBERS : 0;
    return Math.max(0, names.length - SHAPE_MEMBERS_MAX) + numbered;
  }
}

function freeSlot(slots: Int32Array, key: number): number {
  let slot = key & (slots.length - 1);
  while (slots[slot] !== EMPTY_SHAPE) slot = (slot + 1) & (slots.length - 1);
  return slot;
}
