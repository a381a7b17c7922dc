// Request headers that operations read, as the API document names them.
import type { OperationText, operation } from "./openapi.ts";

/** A request header that an operation reads. */
export interface HeaderParameter {
  name: string;
  description: string;
  schema: Readonly<Record<string, unknown>>;
  /** what an operation also answers because of it */
  answers: OperationText["answers"];
}

/** @returns the text of an operation that also reads these headers, with the answers that they lead to */
export const withHeaders = (
  documented: ReturnType<typeof operation>,
  ...headers: readonly HeaderParameter[]
) => ({
  ...documented,
  "x-headers": headers,
  "x-answers": { ...documented["x-answers"], ...Object.assign({}, ...headers.map(({ answers }) => answers)) },
});

/** @returns the header in the form of the API document */
export const headerParameter = ({ answers: _, ...header }: HeaderParameter) => ({
  ...header,
  in: "header",
  required: false,
});
