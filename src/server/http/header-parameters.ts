// Request headers in the API document.
import type { TSchema } from "@sinclair/typebox";

/** One successful response of an operation. */
export interface Answer {
  description: string;
  schema?: TSchema;
  mediaType?: string;
}

/** Answers of an operation by status. */
export type Answers = Readonly<Record<number, Answer>>;

/** A request header that an operation reads. */
export interface HeaderParameter {
  name: string;
  description: string;
  schema: Readonly<Record<string, unknown>>;
  /** additional answers of an operation that reads the header */
  answers: Answers;
}

/** @returns the operation text with these headers and their responses added */
export const withHeaders = <Operation extends { "x-answers": Answers }>(
  documented: Operation,
  ...headers: readonly HeaderParameter[]
) => ({
  ...documented,
  "x-headers": headers,
  "x-answers": { ...documented["x-answers"], ...Object.assign({}, ...headers.map(({ answers }) => answers)) },
});

/** @returns the header as an OpenAPI parameter */
export const headerParameter = ({ answers: _, ...header }: HeaderParameter) => ({
  ...header,
  in: "header",
  required: false,
});
