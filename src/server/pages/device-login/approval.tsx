// The approval page of a device login: who requests access, from where, with which scopes, and two equal buttons without a
// default. The route claims the code for the user, enforces single use and records the decision.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Hidden, SignOutForm } from "../forms.tsx";
import { type Branding, renderPage } from "../layout.tsx";
import { formatUserCode, scopeText, timeText } from "../words.ts";

export interface ApprovalProps {
  /** path that the decision is posted to: the device login's link, or the page of the typed code */
  action: string;
  csrf: string;
  /** eight characters */
  userCode: string;
  oauthClientName: string;
  scopes: readonly string[];
  requestedFrom: { address: string | null };
  /** RFC 3339 */
  requestedAt: string;
  /** RFC 3339 */
  expiresAt: string;
  /** email of the signed-in user */
  signedInAs: string;
  /** whether the token gets the user's rights as an administrator */
  isAdministrator?: boolean;
  /** name of the provider through which the user signed in */
  through?: string | undefined;
  branding: Branding;
}

function UserCode({ userCode }: { userCode: string }) {
  // Outside the form on purpose: Enter in an input would press the form's first button, which approves.
  return (
    <div class="field">
      <label for="confirmation-code">Confirmation code</label>
      <input
        class="user-code"
        id="confirmation-code"
        type="text"
        value={formatUserCode(userCode)}
        readOnly
        aria-describedby="confirmation-code-hint"
      />
      <p class="hint" id="confirmation-code-hint">
        Continue only if your workstation shows this code, with or without the dash.
      </p>
    </div>
  );
}

const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

const Time = ({ value }: { value: string }) => <time dateTime={value}>{timeText(value)}</time>;

function RequestFacts({ oauthClientName, requestedFrom, requestedAt, expiresAt }: ApprovalProps) {
  return (
    <dl class="facts">
      <Fact name="Application">{oauthClientName}</Fact>
      <Fact name="Requested from">{requestedFrom.address ?? "Unknown address"}</Fact>
      <Fact name="Requested at">
        <Time value={requestedAt} />
      </Fact>
      <Fact name="Expires">
        <Time value={expiresAt} />
      </Fact>
    </dl>
  );
}

function Scopes({ scopes, isAdministrator = false }: Pick<ApprovalProps, "scopes" | "isAdministrator">) {
  if (scopes.length === 0) return null;
  return (
    <>
      <h2>It will be able to</h2>
      <ul>
        {scopes.map((scope) => (
          <li key={scope}>{scopeText(scope)}</li>
        ))}
        {isAdministrator && scopes.includes("governance:read") ? (
          <li>Administer the service, as you are an administrator</li>
        ) : null}
      </ul>
    </>
  );
}

function Decision({ action, csrf, userCode }: Pick<ApprovalProps, "action" | "csrf" | "userCode">) {
  return (
    <form class="choices" method="post" action={action}>
      <Hidden name="csrf" value={csrf} />
      <Hidden name="user_code" value={userCode} />
      <button class="button" type="submit" name="decision" value="approve">
        Authorize
      </button>
      <button class="button" type="submit" name="decision" value="deny">
        Deny
      </button>
    </form>
  );
}

/**
 * Shows a pending device login. Posts `csrf`, `user_code` and `decision` (`approve` or `deny`) to `action`.
 * @source RFC 8628 sections 3.3 and 5.4
 */
export function approvalPage(props: ApprovalProps): string {
  const { action, csrf, signedInAs, branding } = props;
  return renderPage(
    { title: "Allow workstation access?", branding },
    <>
      <p>A workstation requests access to {branding.organizationName} with your account.</p>
      <UserCode userCode={props.userCode} />
      <RequestFacts {...props} />
      <Scopes {...props} />
      <p class="warning">
        <strong>Deny this request if you did not start it yourself.</strong> Otherwise the sender of the link
        or code gets your access.
      </p>
      <Decision action={action} csrf={csrf} userCode={props.userCode} />
      <SignOutForm csrf={csrf} email={signedInAs} next={action} through={props.through} />
    </>,
  );
}
