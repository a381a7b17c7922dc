// The decision on a device login: who asks, from where, for what; then two equal buttons and nothing decided by default.
// Claiming the code for the user, the single use of the link and the decision itself are left to the route.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Hidden, SignOutForm } from "../forms.tsx";
import { type Branding, renderPage } from "../layout.tsx";
import { formatUserCode, scopeText, timeText } from "../words.ts";

export interface ApprovalProps {
  /** where the decision is posted: the path of the opaque link, or of the typed code */
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
  branding: Branding;
}

function UserCode({ userCode }: { userCode: string }) {
  // Outside the form on purpose: Enter in a form's input presses its first button, which would approve.
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
        Go on only if your terminal shows this code, with or without the dash.
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
      <Fact name="Asked from">{requestedFrom.address ?? "Unknown address"}</Fact>
      <Fact name="Asked at">
        <Time value={requestedAt} />
      </Fact>
      <Fact name="Expires">
        <Time value={expiresAt} />
      </Fact>
    </dl>
  );
}

function Scopes({ scopes }: { scopes: readonly string[] }) {
  if (scopes.length === 0) return null;
  return (
    <>
      <h2>It will be able to</h2>
      <ul>
        {scopes.map((scope) => (
          <li key={scope}>{scopeText(scope)}</li>
        ))}
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
 * Shows a pending device login to the user who is to decide. Posts `csrf`, `user_code` and `decision` (`approve` or
 * `deny`) to `action`.
 * @source RFC 8628 sections 3.3 and 5.4; client-and-auth.md section 4.1; operator-experience.md section 7, WEB-2
 */
export function approvalPage(props: ApprovalProps): string {
  const { action, csrf, signedInAs, branding } = props;
  return renderPage(
    { title: "Allow terminal access?", branding },
    <>
      <p>A terminal asks to use {branding.organizationName} as you.</p>
      <UserCode userCode={props.userCode} />
      <RequestFacts {...props} />
      <Scopes scopes={props.scopes} />
      <p class="warning">
        <strong>Deny this if you did not start it yourself.</strong> Whoever sent you the link or code would
        get your access.
      </p>
      <Decision action={action} csrf={csrf} userCode={props.userCode} />
      <SignOutForm csrf={csrf} email={signedInAs} next={action} />
    </>,
  );
}
