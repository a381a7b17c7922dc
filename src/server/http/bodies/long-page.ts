// Pages that refuse a form and repeat what was entered: escaped, in fields, links and examples, so many times as long as the form.
import { exchangeOf } from "../exchange.ts";
import { HttpError, PROBLEM_BYTES_MAX } from "../problems/problem.ts";

/** Characters of a form that no page makes as long as PROBLEM_BYTES_MAX. Few forms have as many. */
export const ENTERED_CHARACTERS_MAX = 1_024;

interface Answered {
  request: Request;
  body: unknown;
  responseValue: unknown;
}

/** @returns the response @throws HttpError in place of a page that refuses a long form and has more than PROBLEM_BYTES_MAX */
export async function refuseLongPage({ request, body, responseValue: response }: Answered): Promise<unknown> {
  if (!(response instanceof Response) || response.status < 400) return response;
  if (charactersIn(body) <= ENTERED_CHARACTERS_MAX) return response;
  const bytes = await response.bytes();
  if (bytes.length <= PROBLEM_BYTES_MAX) return new Response(bytes, response);
  const reason = exchangeOf(request).refusal?.reason ?? "request.form_too_long";
  const message =
    "the form was refused, and what you entered is too long to show it again; go back one page, where your browser has it";
  throw new HttpError(response.status, reason, message);
}

/** @param body fields of a form */
const charactersIn = (body: unknown): number =>
  Object.values(Object(body)).reduce<number>((sum, value) => sum + String(value).length, 0);
