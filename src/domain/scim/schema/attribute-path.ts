// Resolves attribute names of providers: in any letter case, with or without the URN of their schema, with or without a
// sub-attribute. Names are looked up in maps built from the schema table, never by indexing an object with client text.

import type { ResourceTypeName } from "../wire.ts";
import {
  type Attribute,
  COMMON_ATTRIBUTES,
  PASSWORD,
  RESOURCE_TYPE,
  type ResourceType,
  type Schema,
} from "./schema.ts";

/** A resolved attribute of a resource. */
export interface AttributePath {
  readonly type: ResourceTypeName;
  /** its extension; undefined for core and common attributes */
  readonly extension: Schema | undefined;
  readonly attribute: Attribute;
  readonly sub: Attribute | undefined;
}

/** A whole extension, named by its URN alone. */
interface ExtensionPath {
  readonly type: ResourceTypeName;
  readonly extension: Schema;
  readonly attribute: undefined;
  readonly sub: undefined;
}

export type ResolvedPath = AttributePath | ExtensionPath;

type Names = ReadonlyMap<string, Attribute>;

const lower = (name: string): string => name.toLowerCase();
const namesOf = (attributes: readonly Attribute[]): Names =>
  new Map(attributes.map((attribute) => [lower(attribute.name), attribute]));

interface TypeNames {
  core: Names;
  extensions: readonly { schema: Schema; urn: string; names: Names }[];
  coreUrn: string;
}

const typeNames = ({ name, core, extensions }: ResourceType): TypeNames => ({
  core: namesOf([...COMMON_ATTRIBUTES, ...core.attributes, ...(name === "User" ? [PASSWORD] : [])]),
  coreUrn: lower(core.id),
  extensions: extensions.map((schema) => ({
    schema,
    urn: lower(schema.id),
    names: namesOf(schema.attributes),
  })),
});

const NAMES: Readonly<Record<ResourceTypeName, TypeNames>> = {
  User: typeNames(RESOURCE_TYPE.User),
  Group: typeNames(RESOURCE_TYPE.Group),
};

const subNames = new Map<Attribute, Names>();

/** @returns the sub-attribute with that name, in any letter case */
export function subAttributeOf(attribute: Attribute, name: string): Attribute | undefined {
  let names = subNames.get(attribute);
  if (!names) {
    names = namesOf(attribute.subAttributes ?? []);
    subNames.set(attribute, names);
  }
  return names.get(lower(name));
}

/**
 * Resolves `[urn ":"] name ["." name]`. Bare names of an extension are accepted if the core has no such name, as Entra sends
 * them.
 * @returns undefined for a name that the type does not have
 * @source SCIM-39 and SCIM-52
 */
export function resolvePath(type: ResourceTypeName, path: string): ResolvedPath | undefined {
  const { core, coreUrn, extensions } = NAMES[type];
  const folded = lower(path);
  for (const { schema, urn, names } of extensions) {
    if (folded === urn) return { type, extension: schema, attribute: undefined, sub: undefined };
    if (folded.startsWith(`${urn}:`))
      return within({ type, extension: schema }, names, folded.slice(urn.length + 1));
  }
  if (folded.startsWith(`${coreUrn}:`))
    return within({ type, extension: undefined }, core, folded.slice(coreUrn.length + 1));
  const found = within({ type, extension: undefined }, core, folded);
  if (found) return found;
  for (const { schema, names } of extensions) {
    const bare = within({ type, extension: schema }, names, folded);
    if (bare) return bare;
  }
  return undefined;
}

function within(
  place: Pick<AttributePath, "type" | "extension">,
  names: Names,
  rest: string,
): AttributePath | undefined {
  const dot = rest.indexOf(".");
  const attribute = names.get(dot < 0 ? rest : rest.slice(0, dot));
  if (!attribute) return undefined;
  if (dot < 0) return { ...place, attribute, sub: undefined };
  const sub = subAttributeOf(attribute, rest.slice(dot + 1));
  return sub && { ...place, attribute, sub };
}

/** @returns the path for messages: canonical spelling, with the URN of an extension */
export function pathText({ extension, attribute, sub }: ResolvedPath): string {
  const name = attribute ? `${attribute.name}${sub ? `.${sub.name}` : ""}` : "";
  if (!extension) return name;
  return name === "" ? extension.id : `${extension.id}:${name}`;
}

/** @returns whether a provider may set it; `schemas` follows from the other attributes */
export const isSettable = ({ attribute, sub }: ResolvedPath): boolean =>
  attribute === undefined ||
  (attribute.name !== "schemas" &&
    attribute.mutability === "readWrite" &&
    (sub?.mutability ?? "readWrite") === "readWrite");
