// The entered values that the page of a refused form sends back.
/** @jsxImportSource preact */
import { Hidden } from "../../pages/forms.tsx";

/** Fields of a console form, as they were sent. */
export type Fields = Readonly<Record<string, string | undefined>>;

/** Field with the mark of the reader whom a form was made for. */
export const OWNER_FIELD = "by";

/** Fields that are never sent back to a page. Short words must match a whole word: `harness_codex` is no code. */
const HELD_BACK = /password|secret|csrf|(?:^|_)(?:token|code|answer)(?:_|$)/i;
/** Field with the names of the withheld fields of a form, separated by spaces. */
export const WITHHELD_FIELDS_FIELD = "held_back";

/** Fields of the sign-in on the page of a form that was sent after the session ended. No other form has them. */
export const SIGN_IN_FIELDS = {
  step: "sign_in",
  email: "sign_in_email",
  password: "sign_in_password",
} as const;
const IS_SIGN_IN: ReadonlySet<string> = new Set(Object.values(SIGN_IN_FIELDS));

export interface Kept {
  /** path that the form was sent to */
  path: string;
  /** path of the page with the form */
  back: string;
  fields: Fields;
  /** see Action */
  heldBack?: RegExp | undefined;
}

/** @returns the fields for a form that sends them again */
export function keptFields({ fields, heldBack }: Pick<Kept, "fields" | "heldBack">): Record<string, string> {
  const entered = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined || IS_SIGN_IN.has(name) ? [] : [[name, value] as const],
  );
  const held = entered.flatMap(([name]) => (heldBack?.test(name) ? [name] : []));
  return {
    ...Object.fromEntries(entered.filter(([name]) => !HELD_BACK.test(name) && !held.includes(name))),
    ...(held.length > 0 && { [WITHHELD_FIELDS_FIELD]: held.join(" ") }),
  };
}

/** @returns whether an entered value is not sent back */
export const hasWithheldFields = (entered: Fields, kept: Readonly<Record<string, string>>): boolean =>
  Object.entries(entered).some(
    ([name, value]) => value && name !== "csrf" && !IS_SIGN_IN.has(name) && !Object.hasOwn(kept, name),
  );

export const KeptFields = ({ fields }: { fields: Readonly<Record<string, string>> }) => (
  <>
    {Object.entries(fields).map(([name, value]) => (
      <Hidden key={name} name={name} value={value} />
    ))}
  </>
);

/** Whether a form was sent as multipart. It is sent again in the same way, so that a long text is not made longer by escaping. */
export const isInParts = ({ headers }: Request): boolean =>
  headers.get("content-type")?.startsWith("multipart/form-data") ?? false;
