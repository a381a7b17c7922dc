// Request headers that operations read, as the API document names them.
import type { TSchema } from "@sinclair/typebox";

/** One successful answer of an operation. */
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
  /** what an operation also answers because of it */
  answers: Answers;
}

/** @returns the text of an operation that also reads these headers, with the answers that they lead to */
export const withHeaders = <Operation extends { "x-answers": Answers }>(
  documented: Operation,
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
