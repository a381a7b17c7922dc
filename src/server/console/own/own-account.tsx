// The reader's account: name and role, time zone, colors, password, and the link to second factors.
/** @jsxImportSource preact */
import type { ProvisioningSource } from "../../../domain/identity/model.ts";
import { PasswordFields, type PasswordProps } from "../../pages/account/password-fields.tsx";
import { ErrorSummary } from "../../pages/forms.tsx";
import { roleText } from "../../pages/words.ts";
import { type ConsolePage, ThemeForm } from "../frame/frame.tsx";
import { VIEWS_PATH } from "../list/views.tsx";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { Facts, Text, useReader } from "../parts/values.tsx";
import { SOURCE_LABELS } from "../people/words.ts";
import { OWN_ACCOUNT_PATH } from "./words.ts";

export interface OwnAccount {
  email: string;
  role: string;
  source: ProvisioningSource;
  /** name of the provider through which the browser signed in */
  through: string | undefined;
  /** omitted for people without a password */
  password?: PasswordProps | undefined;
  /** number of second factors; omitted if the account cannot have one */
  secondFactors?: number | undefined;
  /** of a refused password */
  status?: number | undefined;
}

export function ownAccountPage(account: OwnAccount): ConsolePage {
  const { email, role, source, through, password, secondFactors, status } = account;
  const error = password?.error;
  return {
    title: "Your account",
    status,
    isError: error !== undefined,
    content: (
      <>
        <ErrorSummary error={error?.message} {...(error && { fieldId: error.field })} />
        <Facts
          facts={[
            { label: "Email", value: <Text value={email} /> },
            { label: "Role", value: roleText(role) },
            { label: "Account from", value: SOURCE_LABELS[source] },
            { label: "Signed in with", value: through === undefined ? "Password" : <Text value={through} /> },
            { label: "Times are shown in", value: <Zone /> },
          ]}
        />
        <section aria-label="Colors">
          <Theme />
        </section>
        <p>
          <a class="button quiet" href={VIEWS_PATH}>
            Saved views of lists
          </a>
        </p>
        <Password email={email} password={password} />
        <SecondFactors count={secondFactors} />
        <AsCommand command={["users", "show", email]} api={{ method: "GET", path: "/auth/me" }} />
      </>
    ),
  };
}

const Zone = () => <>{useReader().zone}</>;
const Theme = () => <ThemeForm reader={useReader()} />;

function Password({ email, password }: Pick<OwnAccount, "email" | "password">) {
  return (
    <section aria-labelledby="password">
      <h2 id="password">Password</h2>
      {password === undefined ? (
        <p>Your organization manages how you sign in, so there is no password to change here.</p>
      ) : (
        <>
          <ConsoleForm action={`${OWN_ACCOUNT_PATH}/password`} class="narrow" edits="saved">
            <PasswordFields {...password} email={email} />
          </ConsoleForm>
          <AsCommand
            command={["users", "reset-password", email]}
            api={{
              method: "POST",
              path: "/me/password",
              body: { current_password: "CURRENT", new_password: "NEW" },
            }}
          />
        </>
      )}
    </section>
  );
}

function SecondFactors({ count }: { count: number | undefined }) {
  if (count === undefined) return null;
  return (
    <section aria-labelledby="second-factor">
      <h2 id="second-factor">Second factor</h2>
      <p>
        {count === 0
          ? "Your password has no second factor. A passkey or an authenticator app protects it better."
          : `Signing in also asks for your second factor. You have ${count}.`}
      </p>
      <a class="button" href="/account/second-factor">
        {count === 0 ? "Set up a second factor" : "Manage second factors"}
      </a>
    </section>
  );
}
