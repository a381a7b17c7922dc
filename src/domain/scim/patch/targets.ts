// What an operation is about: the target its path names, or one target for each member of its value. What may not be
// changed is refused here, and what may be sent in vain is left out (SCIM-41, SCIM-77).
import { isJsonObject } from "../../../platform/text/json-object.ts";
import { type ScimError, scimInvalid } from "../errors.ts";
import type { PatchTarget } from "../filter/model.ts";
import { parseTarget } from "../filter/parse.ts";
import type { ScimProfile } from "../model.ts";
import { pathText, type ResolvedPath, resolvePath } from "../schema/attribute-path.ts";
import { invalidValue, readAll, requireSingle } from "../schema/values.ts";
import type { ResourceTypeName } from "../wire.ts";
import { isSettable } from "./assign.ts";
import type { Change, Operation } from "./patch-message.ts";

/** Which resource is patched, and how its provider wants it. */
export interface Patched {
  readonly id: string;
  readonly profile: ScimProfile;
}

/** A change to one target. */
export interface Step {
  readonly target: PatchTarget;
  readonly change: Change;
}

interface Receiver {
  readonly type: ResourceTypeName;
  readonly id: string;
  carryOut(step: Step): void;
}

/**
 * Carries out what the operation does, in order; maybe nothing.
 * @throws ScimError `noTarget`, `invalidPath`, `invalidValue`, `mutability`, and what `carryOut` throws: of a value
 *   without a path, everything that is wrong in it
 */
export function eachStep({ path, ...change }: Operation, receiver: Receiver): void {
  if (path === undefined) eachMember(change, receiver);
  else atPath(parseTarget(receiver.type, path), change, receiver);
}

function eachMember({ op, value }: Change, receiver: Receiver): void {
  if (op === "remove") throw scimInvalid("noTarget", "remove needs a path that says what to remove");
  const sent = requireSingle(value, "value");
  if (!isJsonObject(sent)) throw invalidValue("value must be an object of attributes where there is no path");
  readAll(Object.entries(sent), ([name, part]) => atMember(name, { op, value: part }, receiver));
}

function atPath(target: PatchTarget, change: Change, { carryOut }: Receiver): void {
  const { attribute } = target.path;
  const isSentInVain =
    attribute?.mutability === "writeOnly" || (attribute?.name === "schemas" && change.op !== "remove");
  if (isSettable(target.path)) carryOut({ target, change });
  else if (!isSentInVain) throw notSettable(target.path);
}

function atMember(name: string, change: Change, { type, id, carryOut }: Receiver): void {
  const path = resolvePath(type, name.split("[", 1)[0] ?? name);
  if (!path) return;
  const target = name.includes("[") ? parseTarget(type, name) : { path, elements: undefined, sub: path.sub };
  const { attribute, sub } = target.path;
  const isOtherId = attribute?.name === "id" && change.value !== id;
  if (isSettable(target.path)) carryOut({ target, change });
  else if (isOtherId || sub?.mutability === "immutable") throw notSettable(target.path);
}

const notSettable = (path: ResolvedPath): ScimError =>
  scimInvalid("mutability", `${pathText(path)} cannot be changed; leave it out`);
