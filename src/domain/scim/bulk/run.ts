// Executes the operations of one bulk request, each like a single request, in an order in which references can be replaced with ids
// (plan.ts). Reports the outcomes in the order of the request.
import { DomainError } from "../../../platform/errors.ts";
import { runInTurns, type Steps } from "../../../platform/steps.ts";
import { ScimError, scimNotFound } from "../errors.ts";
import { etagOf, locationOf, scimErrorBody } from "../messages/messages.ts";
import type { ScimCaller, ScimResources, ScimResponse } from "../model.ts";
import type { ResourceTypeName } from "../wire.ts";
import type { BulkOperation } from "./model.ts";
import { type Dependent, planBulk, type Step } from "./plan.ts";
import { addReferences, referencesOf, replaceReferences } from "./references.ts";

export interface BulkDependencies {
  users: ScimResources;
  groups: ScimResources;
  /** origin under which providers reach us, without a trailing slash */
  baseUrl(): string;
}

/** maximum number of unknown references that one error names */
const NAMED_MAX = 10;
/** The response contains no attribute, so none needs to be read. */
const ONLY_ID = { attributes: ["id"] };

interface Numbered extends BulkOperation, Dependent {
  /** position in the request */
  at: number;
}

/** The outcome of a successful operation. */
interface Success {
  status: number;
  location: string;
  version: string | undefined;
}

export class BulkRun {
  readonly #resources: Readonly<Record<ResourceTypeName, ScimResources>>;
  readonly #baseUrl: string;
  /** ids of created resources, by bulkId */
  readonly #ids = new Map<string, string>();
  /** creations that still lack references */
  readonly #unfinished = new Set<Numbered>();
  /** JSON texts, by position in the request */
  readonly #outcomes: (string | undefined)[] = [];
  #failures = 0;

  constructor(
    { users, groups, baseUrl }: BulkDependencies,
    readonly caller: ScimCaller,
  ) {
    this.#resources = { User: users, Group: groups };
    this.#baseUrl = baseUrl();
  }

  /** @returns the outcomes of the attempted operations, each as JSON text */
  async carryOut(operations: readonly BulkOperation[], failuresMax: number): Promise<readonly string[]> {
    for (const step of planBulk(await runInTurns(numbered(operations)))) {
      if (this.#failures >= failuresMax) break;
      // Yields here, because an operation that fails before it writes would not let other requests run.
      await new Promise<void>((resolve) => setImmediate(resolve));
      await this.#attempt(step);
    }
    const stopped = new ScimError(
      409,
      "invalidValue",
      "not run, because as many operations failed as failOnErrors allows",
    );
    for (const operation of this.#unfinished) this.#fail(operation, this.#incomplete(operation, stopped));
    return this.#outcomes.filter((outcome) => outcome !== undefined);
  }

  async #attempt({ operation, part, later }: Step<Numbered>): Promise<void> {
    const isSecond = part === "second";
    if (isSecond && !this.#unfinished.delete(operation)) return;
    try {
      this.#refuseUnknown(isSecond ? later : operation.needs.difference(later));
      const success = isSecond ? await this.#addLater(operation, later) : await this.#apply(operation);
      this.#report(operation, success);
      if (part === "first") this.#unfinished.add(operation);
    } catch (error) {
      const refusal = refusalIn(error);
      this.#fail(operation, isSecond ? this.#incomplete(operation, refusal) : refusal);
    }
  }

  /** Omits references to resources that do not exist yet. */
  async #apply(operation: Numbered): Promise<Success> {
    const { method, target, version: ifMatch, refusal } = operation;
    if (refusal || !target) throw refusal ?? scimNotFound();
    const { id, data: body } = replaceReferences(operation, this.#idOf);
    const resources = this.#resources[target.type];
    switch (method) {
      case "POST": {
        const response = await resources.create(this.caller, body, ONLY_ID);
        this.#ids.set(operation.creates ?? "", response.id);
        return successOf(response, 201);
      }
      case "PUT":
        return successOf(await resources.replace(this.caller, id, { body, ifMatch, ...ONLY_ID }), 200);
      case "PATCH": {
        const response = await resources.patch(this.caller, id, { body, ifMatch });
        return successOf(response, response.json === undefined ? 204 : 200);
      }
      default:
        await resources.remove(this.caller, id, { ifMatch });
        return { status: 204, location: locationOf(target.type, id, this.#baseUrl), version: undefined };
    }
  }

  async #addLater(operation: Numbered, later: ReadonlySet<string>): Promise<Success> {
    const body = addReferences(operation, (bulkId) => (later.has(bulkId) ? this.#idOf(bulkId) : undefined));
    const resources = this.#resources[operation.target?.type ?? "User"];
    const response = await resources.patch(this.caller, this.#idOf(operation.creates ?? "") ?? "", { body });
    return successOf(response, 201);
  }

  #idOf = (bulkId: string): string | undefined => this.#ids.get(bulkId);

  /** @throws ScimError 409 for references that no operation creates, or whose creation failed */
  #refuseUnknown(needs: ReadonlySet<string>): void {
    const unknown = [...needs].filter((bulkId) => !this.#ids.has(bulkId));
    if (unknown.length === 0) return;
    const named = unknown.slice(0, NAMED_MAX).map((bulkId) => `"${bulkId}"`);
    const detail = `no resource was created with bulkId ${named.join(", ")}; create it in the same request`;
    throw new ScimError(409, "invalidValue", detail);
  }

  #incomplete(operation: Numbered, { status, scimType, message }: ScimError): ScimError {
    const id = this.#idOf(operation.creates ?? "");
    return new ScimError(
      status,
      scimType,
      `created with id ${id}, but some of its references could not be set: ${message}`,
    );
  }

  #report({ at, method, bulkId }: Numbered, { location, version, status }: Success): void {
    this.#outcomes[at] = JSON.stringify({ location, method, bulkId, version, status: String(status) });
  }

  #fail(operation: Numbered, { status, scimType, message }: ScimError): void {
    const { at, method, bulkId, target } = operation;
    const { id } = replaceReferences({ method, target, data: undefined }, this.#idOf);
    const isPlaced = target && method !== "POST" && id !== "";
    const location = isPlaced ? locationOf(target.type, id, this.#baseUrl) : undefined;
    const told = JSON.stringify({ location, method, bulkId, status: String(status) });
    this.#outcomes[at] = `${told.slice(0, -1)},"response":${scimErrorBody(status, scimType, message)}}`;
    this.#failures += 1;
  }
}

/** A message may hold a thousand users, and searching all for references takes so long that others need a turn. */
function* numbered(operations: readonly BulkOperation[]): Steps<Numbered[]> {
  const found: Numbered[] = [];
  for (const [at, operation] of operations.entries()) {
    const creates = operation.method === "POST" ? operation.bulkId : undefined;
    found.push({ ...operation, at, creates, needs: referencesOf(operation) });
    yield;
  }
  return found;
}

const successOf = ({ location, version }: ScimResponse, status: number): Success => ({
  status,
  location,
  version: etagOf(version),
});

/** @throws unexpected errors: they are bugs, and logged with the request */
function refusalIn(error: unknown): ScimError {
  if (error instanceof ScimError) return error;
  if (error instanceof DomainError && error.kind === "unavailable")
    return new ScimError(503, undefined, error.message);
  throw error;
}
