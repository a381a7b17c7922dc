// The lines of values in the text that `policy show` prints. Finding them means writing and parsing the whole text, which takes
// seconds for a large document, so a thread does it once per revision (tasks.ts).
import { LRUCache } from "lru-cache";
import { escapedToken, pointerOf } from "../../../platform/errors.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";
import { readDocumentText } from "../document/text.ts";
import { documentYaml } from "../document/yaml.ts";
import type { GovernanceConfig, Revision } from "../model.ts";
import { documentText } from "../publishing/validated.ts";

/** 1-based, by pointer into the document. */
export type LinesByPointer = ReadonlyMap<string, number>;

/** Maximum number of revisions whose lines are cached; administrators compare few. */
const REVISIONS_KEPT = 4;

export class PolicyLines {
  readonly #kept = new LRUCache<string, Promise<LinesByPointer>>({ max: REVISIONS_KEPT });

  /** @param find runs `policyLines`, perhaps in a thread */
  constructor(private readonly find: (document: string) => Promise<ReturnType<typeof policyLines>>) {}

  /** @returns the lines of packages and of values set for harnesses @throws DomainError `document.busy` */
  of({ id, document }: Pick<Revision, "id" | "document">): Promise<LinesByPointer> {
    const kept = this.#kept.get(id);
    if (kept) return kept;
    const found = this.#linesOf(document);
    this.#kept.set(id, found);
    found.catch(() => this.#kept.delete(id));
    return found;
  }

  async #linesOf(document: GovernanceConfig): Promise<LinesByPointer> {
    const pairs = await this.find(await documentText({ document }));
    return new Map<string, number>(JSON.parse(pairs));
  }
}

/**
 * @param document a GovernanceConfig as JSON
 * @returns pairs of pointer and line as JSON, which is cheaper to receive from a thread
 */
export function policyLines({ document: text }: { document: string }): string {
  const document: GovernanceConfig = JSON.parse(text);
  const policies = Object.entries(document.harnesses);
  const pointers = [
    ...policies.flatMap(([key, policy]) => leavesOf(policy, pointerOf(["harnesses", key]))),
    ...document.packages.map((_, at) => ({ pointer: pointerOf(["packages", at]) })),
  ];
  const places = pointers.map(({ pointer }) => ({ pointer, detail: "" }));
  const located = readDocumentText(documentYaml(document)).locate(places);
  return JSON.stringify(
    located.flatMap(({ pointer, line }) => (line === undefined ? [] : [[pointer, line]])),
  );
}

export interface Leaf {
  /** RFC 6901 */
  pointer: string;
  value: unknown;
}

/**
 * @param above pointer to the value
 * @returns every value in it. A list is one value; empty mappings and lists do not count.
 */
export function leavesOf(value: unknown, above: string): Leaf[] {
  const leaves: Leaf[] = [];
  const collect = (member: unknown, pointer: string): void => {
    if (isJsonObject(member))
      for (const key of Object.keys(member)) collect(member[key], `${pointer}/${escapedToken(key)}`);
    else if (!Array.isArray(member) || member.length > 0) leaves.push({ pointer, value: member });
  };
  collect(value, above);
  return leaves;
}
