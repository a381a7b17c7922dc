// A form whose button asks the browser for a passkey. It is hidden until the script has detected that the browser
// supports passkeys.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Hidden } from "../forms.tsx";

export interface PasskeyFormProps {
  /** `create` a new passkey, or `get` a proof of a known one */
  passkey: "create" | "get";
  /** options for the browser, from the domain */
  options: object;
  action: string;
  enctype?: "multipart/form-data" | undefined;
  /** hidden fields in addition to the response */
  fields: Readonly<Record<string, string | undefined>>;
  verb: string;
  isPrimary?: boolean;
  children?: ComponentChildren;
}

/** Posts `answer` and the fields. */
export function PasskeyForm(props: PasskeyFormProps) {
  const { passkey, options, action, enctype, fields, verb, isPrimary = false, children } = props;
  return (
    <>
      <form
        method="post"
        action={action}
        enctype={enctype}
        hidden
        data-passkey={passkey}
        data-options={JSON.stringify(options)}
      >
        {Object.entries(fields).map(([name, value]) =>
          value === undefined ? null : <Hidden key={name} name={name} value={value} />,
        )}
        <Hidden name="answer" value="" />
        {children}
        <p class="field-error" role="alert" />
        <button class={isPrimary ? "button primary" : "button"} type="submit">
          {verb}
        </button>
      </form>
      <noscript>
        <p class="hint">Passkeys need JavaScript, which is off in this browser.</p>
      </noscript>
    </>
  );
}
