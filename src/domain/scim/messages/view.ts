// Projects responses: resolves `attributes` and `excludedAttributes` with the schema table. The parts of a resource form a
// tree of canonical names; render.ts applies it, and queries use it to skip attributes.
import { scimInvalid } from "../errors.ts";
import type { ScimObject, ScimValue, ViewParameters } from "../model.ts";
import { type ResolvedPath, resolvePath } from "../schema/attribute-path.ts";
import { isList } from "../schema/document.ts";
import { type Attribute, COMMON_ATTRIBUTES, RESOURCE_TYPE } from "../schema/schema.ts";
import { RESOURCE_TYPES, type ResourceTypeName } from "../wire.ts";

/** Maximum number of names in one request; the table has fewer attributes. */
export const VIEW_NAMES_MAX = 256;

/** The shown parts of a resource or of a complex value, by canonical name; a simple value has no parts. */
export interface Parts extends ReadonlyMap<string, Parts> {}

export interface View {
  /** whether the request leaves the default projection unchanged */
  readonly isDefault: boolean;
  /** whether the attribute, of the core or an extension, is shown at least in part; otherwise it need not be read */
  shows(name: string): boolean;
  /** @returns the shown parts of a resource of this type; an extension's attributes are under its URN */
  partsOf(type: ResourceTypeName): Parts;
}

type MutableParts = Map<string, MutableParts>;

/** The names of one request; at most one of the two is given. */
export interface RequestedNames {
  attributes: readonly string[] | undefined;
  excludedAttributes: readonly string[] | undefined;
}

/**
 * Splits the lists: each text contains names separated by commas. Empty names are ignored.
 * @throws ScimError 400 invalidValue if both are given, or too many names
 * @source RFC 7644 section 3.9, SCIM-67
 */
export function readRequestedNames(parameters: ViewParameters): RequestedNames {
  const attributes = namesIn("attributes", parameters.attributes);
  const excludedAttributes = namesIn("excludedAttributes", parameters.excludedAttributes);
  if (attributes && excludedAttributes)
    throw scimInvalid(
      "invalidValue",
      "attributes and excludedAttributes cannot be combined; send one of them",
    );
  return { attributes, excludedAttributes };
}

function namesIn(parameter: string, texts: readonly string[] | undefined): readonly string[] | undefined {
  if (!texts) return undefined;
  const names = texts.flatMap((text) => text.split(",")).map((name) => name.trim());
  const given = names.filter((name) => name !== "");
  if (given.length > VIEW_NAMES_MAX)
    throw scimInvalid(
      "invalidValue",
      `${parameter} names more than ${VIEW_NAMES_MAX} attributes; name fewer`,
    );
  return given.length > 0 ? given : undefined;
}

/**
 * @param type of the resources in the response; names that a type does not have are ignored
 * @throws ScimError 400 invalidValue
 * @source SCIM-67 to SCIM-70
 */
export function readView(type: ResourceTypeName | "all", parameters: ViewParameters): View {
  const { attributes, excludedAttributes } = readRequestedNames(parameters);
  if (!attributes && !excludedAttributes) return DEFAULT_VIEW;
  const types = type === "all" ? RESOURCE_TYPES : [type];
  const parts = new Map<ResourceTypeName, Parts>();
  for (const each of types) {
    const shown = attributes ? included(each, attributes) : excluded(each, excludedAttributes ?? []);
    parts.set(each, shown);
  }
  return viewOf((each) => parts.get(each) ?? NOTHING, { types, isDefault: false });
}

const NOTHING: Parts = new Map();

const viewOf = (
  partsOf: View["partsOf"],
  { types, isDefault }: { types: readonly ResourceTypeName[]; isDefault: boolean },
): View => ({
  isDefault,
  partsOf,
  shows: (name) =>
    types.some((type) => {
      const parts = partsOf(type);
      return parts.has(name) || RESOURCE_TYPE[type].extensions.some(({ id }) => parts.get(id)?.has(name));
    }),
});

const isReturnedByDefault = ({ returned }: Attribute): boolean =>
  returned === "always" || returned === "default";

const partsOfAll = (attributes: readonly Attribute[]): MutableParts =>
  new Map(attributes.filter(isReturnedByDefault).map((attribute) => [attribute.name, partsOfOne(attribute)]));

const partsOfOne = ({ subAttributes = [] }: Attribute): MutableParts => partsOfAll(subAttributes);

function partsOfType(type: ResourceTypeName): MutableParts {
  const { core, extensions } = RESOURCE_TYPE[type];
  const parts = partsOfAll([...COMMON_ATTRIBUTES, ...core.attributes]);
  for (const { id, attributes } of extensions) parts.set(id, partsOfAll(attributes));
  return parts;
}

const DEFAULT_PARTS: Readonly<Record<ResourceTypeName, Parts>> = {
  User: partsOfType("User"),
  Group: partsOfType("Group"),
};

/** The parts that are shown by default. */
const DEFAULT_VIEW: View = viewOf((type) => DEFAULT_PARTS[type], {
  types: RESOURCE_TYPES,
  isDefault: true,
});

/** @returns the paths of the names that this type has */
const pathsOf = (type: ResourceTypeName, names: readonly string[]): ResolvedPath[] =>
  names.flatMap((name) => resolvePath(type, name) ?? []);

const stepsOf = ({ extension, attribute, sub }: ResolvedPath): string[] =>
  [extension?.id, attribute?.name, sub?.name].filter((step) => step !== undefined);

function included(type: ResourceTypeName, names: readonly string[]): Parts {
  const parts = partsOfAll(COMMON_ATTRIBUTES.filter(({ returned }) => returned === "always"));
  for (const path of pathsOf(type, names)) {
    const target = path.sub ?? path.attribute;
    if (target?.returned === "never") continue;
    const steps = stepsOf(path);
    let within = parts;
    for (const step of steps.slice(0, -1)) within = placeOf(within, step);
    for (const last of steps.slice(-1))
      within.set(last, target ? partsOfOne(target) : partsOfAll(path.extension?.attributes ?? []));
  }
  return parts;
}

function placeOf(parts: MutableParts, step: string): MutableParts {
  const found = parts.get(step);
  if (found) return found;
  const made: MutableParts = new Map();
  parts.set(step, made);
  return made;
}

function excluded(type: ResourceTypeName, names: readonly string[]): Parts {
  let parts = DEFAULT_PARTS[type];
  for (const path of pathsOf(type, names)) {
    if ((path.sub ?? path.attribute)?.returned !== "always") parts = without(parts, stepsOf(path));
  }
  return parts;
}

/** @returns the parts without the attribute, and without each complex value that has no parts left */
function without(parts: Parts, [step, ...rest]: readonly string[]): Parts {
  const found = step === undefined ? undefined : parts.get(step);
  if (step === undefined || !found) return parts;
  const left = rest.length > 0 ? without(found, rest) : NOTHING;
  const remaining = new Map(parts);
  if (left.size > 0) remaining.set(step, left);
  else remaining.delete(step);
  return remaining;
}

/** @returns the shown parts of the resource, without empty complex values */
export function project(resource: ScimObject, parts: Parts): ScimObject {
  const shown: Record<string, ScimValue> = {};
  for (const [name, value] of Object.entries(resource)) {
    const part = parts.get(name);
    const kept = part && projectValue(value, part);
    if (kept !== undefined) shown[name] = kept;
  }
  return shown;
}

function projectValue(value: ScimValue, parts: Parts): ScimValue | undefined {
  if (typeof value !== "object" || parts.size === 0) return value;
  if (isList(value)) {
    const kept = value.flatMap((element) => projectValue(element, parts) ?? []);
    return kept.length > 0 || value.length === 0 ? kept : undefined;
  }
  const kept = project(value, parts);
  return Object.keys(kept).length > 0 ? kept : undefined;
}
