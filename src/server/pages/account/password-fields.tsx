// The fields for changing one's own password, with the error beside the field to correct.
/** @jsxImportSource preact */
import type { Failure } from "../../http/problems/problem.ts";
import { Field } from "../forms.tsx";

export interface PasswordProps {
  /** characters */
  minimumLength: number;
  error?: PasswordError | undefined;
}

export interface PasswordError {
  field: "current_password" | "new_password";
  message: string;
}

/** @returns the field that the user has to correct */
export const passwordErrorOf = ({ reason, message, problems }: Failure): PasswordError =>
  reason === "identity.invalid"
    ? { field: "new_password", message: problems.map(({ detail }) => detail).join("; ") }
    : { field: "current_password", message };

/** Posts `current_password` and `new_password` with the form around it. */
export function PasswordFields({ minimumLength, error, email }: PasswordProps & { email: string }) {
  const errorOf = (field: PasswordError["field"]) => (error?.field === field ? error.message : undefined);
  return (
    <>
      {/* For password managers: it tells them whose password this is. Nothing reads it. */}
      <input type="hidden" name="username" value={email} autocomplete="username" />
      <Field id="current_password" label="Current password" error={errorOf("current_password")}>
        {(described) => (
          <input
            {...described}
            type="password"
            name="current_password"
            autocomplete="current-password"
            required
          />
        )}
      </Field>
      <Field
        id="new_password"
        label="New password"
        hint={`At least ${minimumLength} characters. Several words work well.`}
        error={errorOf("new_password")}
      >
        {(described) => (
          <input
            {...described}
            type="password"
            name="new_password"
            autocomplete="new-password"
            minLength={minimumLength}
            required
          />
        )}
      </Field>
      <p class="hint">Changing it signs every other browser out. Workstations stay signed in.</p>
      <button class="button primary" type="submit">
        Change password
      </button>
    </>
  );
}
