// Lists the guarantees of an API document, one per line, so that two documents can be compared: operations, accepted
// and required input, and the members of responses.

interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}
type Content = Record<string, { schema: Schema }>;
interface Operation {
  parameters?: { name: string; in: string; required: boolean }[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
}

export interface PromisingDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Schemas };
}

/** Deeper members are those of documents that have their own schema. */
const DEPTH_MAX = 6;

/** @returns sorted lines `gives|takes|needs METHOD PATH …`; dropping a requirement breaks no caller */
export function promisesOf({ paths, components: { schemas } }: PromisingDocument): string[] {
  const lines = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path}`;
      return [`takes ${name}`, ...takenBy(name, operation, schemas), ...givenBy(name, operation, schemas)];
    }),
  );
  return [...new Set(lines)].sort();
}

type Schemas = Record<string, Schema>;

function takenBy(name: string, { parameters = [], requestBody }: Operation, schemas: Schemas): string[] {
  const bodies = Object.entries(requestBody?.content ?? {});
  const members = bodies.flatMap(([, { schema }]) => membersOf(schema, schemas));
  const request = [
    ...parameters.map((one) => ({ name: `${one.in} ${one.name}`, isRequired: one.required })),
    ...members.map((one) => ({ ...one, name: `body ${one.name}` })),
  ];
  return [
    ...bodies.map(([type]) => `takes ${name} ${type}`),
    ...request.map((one) => `takes ${name} ${one.name}`),
    ...request.filter(({ isRequired }) => isRequired).map((one) => `needs ${name} ${one.name}`),
  ];
}

const givenBy = (name: string, { responses }: Operation, schemas: Schemas): string[] =>
  Object.entries(responses)
    .filter(([status]) => status.startsWith("2"))
    .flatMap(([status, { content = {} }]) => [
      `gives ${name} ${status}`,
      ...Object.entries(content).flatMap(([type, { schema }]) => [
        `gives ${name} ${status} ${type}`,
        ...membersOf(schema, schemas).map((member) => `gives ${name} ${status} ${member.name}`),
      ]),
    ]);

interface Member {
  /** `items[].id string` */
  name: string;
  isRequired: boolean;
}

function membersOf(schema: Schema, schemas: Schemas, at = "", depth = 0): Member[] {
  if (depth > DEPTH_MAX) return [];
  const named = schema.$ref === undefined ? undefined : schemas[schema.$ref.split("/").at(-1) ?? ""];
  if (named) return membersOf(named, schemas, at, depth + 1);
  const choices = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const place = at === "" ? name : `${at}.${name}`;
    return [
      {
        name: `${place} ${typeOf(property)}`,
        isRequired: at === "" && (schema.required ?? []).includes(name),
      },
      ...membersOf(property, schemas, place, depth + 1),
    ];
  });
  return [
    ...own,
    ...(schema.items ? membersOf(schema.items, schemas, `${at}[]`, depth + 1) : []),
    ...choices.flatMap((choice) => membersOf(choice, schemas, at, depth + 1)),
  ];
}

function typeOf({ $ref, type, const: constant, anyOf, oneOf }: Schema): string {
  if ($ref !== undefined) return $ref.split("/").at(-1) ?? "";
  if (constant !== undefined) return JSON.stringify(constant);
  const choices = anyOf ?? oneOf;
  return choices ? [...new Set(choices.map(typeOf))].sort().join("|") : (type ?? "any");
}
