// A new token of an identity provider: its form, and the page that shows the token once.
/** @jsxImportSource preact */
import { SCIM_PROFILES } from "../../../domain/scim/model.ts";
import { EXPIRY_DAYS_MAX, LABEL_LENGTH_MAX } from "../../../domain/scim/tokens/token-model.ts";
import type { ScimTokenView } from "../../../domain/scim/tokens/tokens.ts";
import type { Problem } from "../../../platform/errors.ts";
import type { Secret } from "../../../platform/secret.ts";
import { Field, Hidden } from "../../pages/forms.tsx";
import type { ConsolePage } from "../frame/frame.tsx";
import { AsCommand } from "../parts/command.tsx";
import { ConsoleForm } from "../parts/form.tsx";
import { endedSecretPage, SHOWN_ONCE } from "../parts/shown-once.tsx";
import { Copy, Facts, Text, Time, useReader } from "../parts/values.tsx";
import { IDENTITY_PATH, NEW_TOKEN_PATH, PROFILE_TEXT, TOKENS_PATH } from "./words.ts";

/** The input for a new token, as text. */
export interface TokenInput {
  /** idempotency key: sending the form again shows the same token and makes no second one */
  once: string;
  label?: string | undefined;
  profile?: string | undefined;
  /** days; never if omitted */
  expires?: string | undefined;
}

/** Why a form was refused: problems by field, and the status. */
export interface TokenRefusal {
  problems: readonly Problem[];
  status: number;
  /** the form needs a new idempotency key */
  isSpent?: boolean;
}

const BREADCRUMBS = [
  { href: IDENTITY_PATH, label: "Identity" },
  { href: TOKENS_PATH, label: "SCIM tokens" },
];

const FIELD_NAMES: Readonly<Record<string, string>> = {
  "/label": "Label",
  "/profile": "Profile",
  "/expires_at": "Expiry",
};

/** @returns the form, with what was entered and why it was refused */
export const newTokenPage = (input: TokenInput, refusal?: TokenRefusal): ConsolePage => ({
  title: "Create a token",
  breadcrumbs: BREADCRUMBS,
  isError: refusal !== undefined,
  status: refusal?.status,
  content: (
    <>
      {refusal && <Refused problems={refusal.problems} />}
      <p>
        Only the next page shows the token. The token permits changes to users and groups until it expires or
        is revoked. Other tokens stay valid.
      </p>
      <TokenForm input={input} problems={refusal?.problems ?? []} />
      <AsCommand
        command={["scim", "tokens", "create", "LABEL"]}
        api={{ method: "POST", path: "/admin/scim/tokens", body: { label: "LABEL", profile: "standard" } }}
      />
    </>
  ),
});

const Refused = ({ problems }: { problems: readonly Problem[] }) => (
  <div class="error-summary" role="alert" tabIndex={-1} autofocus>
    <h2>The token was not created</h2>
    <ul>
      {problems.map(({ pointer, detail }) => (
        <li key={pointer}>
          <a href={`#${pointer.slice(1) || "label"}`}>
            {FIELD_NAMES[pointer] ?? "Token"}: {detail}.
          </a>
        </li>
      ))}
    </ul>
  </div>
);

function TokenForm({ input, problems }: { input: TokenInput; problems: readonly Problem[] }) {
  const { mayAdminister } = useReader();
  if (!mayAdminister) return <p>Your console is read-only, so you cannot create tokens.</p>;
  const errorOf = (name: string) => problems.find(({ pointer }) => pointer === `/${name}`)?.detail;
  return (
    <ConsoleForm action={NEW_TOKEN_PATH} edits={problems.length > 0 ? "refused" : "saved"}>
      <Hidden name="once" value={input.once} />
      <Field id="label" label="Label" hint="Names the token in lists and logs" error={errorOf("label")}>
        {(described) => (
          <input
            {...described}
            name="label"
            value={input.label}
            required
            maxLength={LABEL_LENGTH_MAX}
            autocomplete="off"
          />
        )}
      </Field>
      <Field id="profile" label="Profile" error={errorOf("profile")}>
        {(described) => (
          <select {...described} name="profile">
            {SCIM_PROFILES.map((profile) => (
              <option key={profile} value={profile} selected={profile === input.profile}>
                {PROFILE_TEXT[profile]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field id="expires_at" label="Expires after days" hint="Empty: never" error={errorOf("expires_at")}>
        {(described) => (
          <input
            {...described}
            name="expires"
            type="number"
            min={1}
            max={EXPIRY_DAYS_MAX}
            value={input.expires}
          />
        )}
      </Field>
      <div class="choices">
        <a class="button" href={TOKENS_PATH}>
          Cancel
        </a>
        <button class="button primary" type="submit">
          Create token
        </button>
      </div>
    </ConsoleForm>
  );
}

interface CreatedToken {
  token: Secret;
  view: ScimTokenView;
  scimUrl: string;
}

/** @returns the only page that shows the token */
export function createdTokenPage({ token, view, scimUrl }: CreatedToken): ConsolePage {
  const text = token.reveal();
  const address = (
    <>
      <code>{scimUrl}</code> <Copy text={scimUrl} what="SCIM address" />
    </>
  );
  return {
    title: `Token ${view.label}`,
    breadcrumbs: BREADCRUMBS,
    content: (
      <>
        <p>Copy the token now and enter it at the identity provider. {SHOWN_ONCE}</p>
        <div class="example">
          <pre>{text}</pre>
          <Copy text={text} what="token" />
        </div>
        <Facts
          facts={[
            { label: "SCIM address", value: address },
            { label: "Profile", value: PROFILE_TEXT[view.profile] },
            { label: "Expires", value: <Time at={view.expiresAtMs} /> },
          ]}
        />
        <p>
          <a href={TOKENS_PATH}>Go to the tokens</a>
        </p>
      </>
    ),
  };
}

/**
 * A form that is sent again gets the token that it created. Every token outlives the stored response of its form.
 * @returns the page for a token that was revoked since
 */
export const revokedTokenPage = ({ label, revokedAtMs }: ScimTokenView): ConsolePage =>
  endedSecretPage({
    title: `Token ${label}`,
    breadcrumbs: BREADCRUMBS,
    children: (
      <>
        <p>
          This form created the token <Text value={label} /> earlier, and that token was revoked{" "}
          <Time at={revokedAtMs} />. It is not shown, because it no longer works. No other token was created.
        </p>
        <p>
          <a href={NEW_TOKEN_PATH}>Create another token</a>, or <a href={TOKENS_PATH}>go to the tokens</a>
        </p>
      </>
    ),
  });
