// Refuses a query without a required parameter. The schema of a query makes each parameter optional, so that one
// refusal names all that are missing.
import { HttpError } from "../problems/problem.ts";

/** @throws HttpError `request.invalid` that names the parameters without a value */
export function refuseMissing<Name extends string>(
  query: Readonly<Partial<Record<Name, unknown>>>,
  names: readonly Name[],
): void {
  const missing = names.filter((name) => (query[name] ?? "") === "");
  if (missing.length === 0) return;
  const problems = missing.map((name) => ({ pointer: `/${name}`, detail: `${name} is required` }));
  const message = `the query is incomplete: ${problems.map(({ detail }) => detail).join("; ")}`;
  throw new HttpError(400, "request.invalid", message, { problems });
}
