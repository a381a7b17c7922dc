// Query parameters of every list, and documentation of parameters that a service validates.
import { type SchemaOptions, Type } from "@sinclair/typebox";
import {
  type PageQuery,
  PER_PAGE_DEFAULT,
  PER_PAGE_MAX,
  SEARCH_LENGTH_MAX,
} from "../../domain/shared/page.ts";
import { UUID_PATTERN } from "../../platform/ids.ts";

/**
 * An optional query parameter that the service validates, so that one response names every problem.
 * @param schema JSON Schema for the API document
 */
export const parameter = (schema: SchemaOptions) =>
  Type.Optional(Type.Unsafe<string>(Type.Unknown({ type: "string", ...schema })));

/** Stricter than the framework's `uuid` format, which also accepts other spellings. */
export const Uuid = Type.String({ format: "uuid", pattern: UUID_PATTERN.source });

export const PageParameters = {
  page: parameter({ type: "integer", minimum: 1, description: "1-based; default 1" }),
  per_page: parameter({
    type: "integer",
    minimum: 1,
    maximum: PER_PAGE_MAX,
    description: `${PER_PAGE_DEFAULT} if omitted`,
  }),
  q: parameter({ maxLength: SEARCH_LENGTH_MAX, description: "Text to find, ignoring letter case" }),
};

/** Parameters of every list that is paged by key. */
export const KeyedParameters = {
  cursor: parameter({ description: "`next_cursor` of the previous page" }),
  limit: parameter({
    type: "integer",
    minimum: 1,
    maximum: PER_PAGE_MAX,
    description: `${PER_PAGE_MAX} if omitted`,
  }),
};

interface PageValues {
  page?: string | undefined;
  per_page?: string | undefined;
  q?: string | undefined;
}

/** @returns the parameters in the form that services take; text that is not a number becomes NaN */
export const toPageQuery = ({ page, per_page: perPage, q }: PageValues): PageQuery => ({
  page: toWholeNumber(page),
  perPage: toWholeNumber(perPage),
  q,
});

/** @returns the number; NaN for a text with other characters than digits, such as `1e2` and ` 7` */
export const toWholeNumber = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(/^\d+$/.test(text) ? text : Number.NaN);
