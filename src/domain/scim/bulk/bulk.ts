// Bulk requests (RFC 7644 section 3.7): reads the message, runs its operations, and frames the response. users.ts and groups.ts
// execute single operations.
import type { ScimCaller } from "../model.ts";
import { BULK_RESPONSE } from "../wire.ts";
import { readBulk } from "./request.ts";
import { type BulkDependencies, BulkRun } from "./run.ts";

export interface Bulk {
  /**
   * @param body parsed JSON
   * @returns the BulkResponse as JSON text, with failed operations
   * @throws ScimError 400 `invalidSyntax` for a malformed request, 413 for too many operations: then nothing was done
   * @source RFC 7644 section 3.7
   */
  run(caller: ScimCaller, body: unknown): Promise<string>;
}

/** @returns the operation that executes many */
export const createBulk = (dependencies: BulkDependencies): Bulk => ({
  async run(caller, body) {
    const { operations, failuresMax } = readBulk(body);
    const outcomes = await new BulkRun(dependencies, caller).carryOut(operations, failuresMax);
    return `{"schemas":["${BULK_RESPONSE}"],"Operations":[${outcomes.join(",")}]}`;
  },
});
