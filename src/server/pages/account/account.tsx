// The account settings page: password, browsers, workstations, gateway key, signing out everywhere, and links for
// administrators. Routes and domain decide about content and permissions.
/** @jsxImportSource preact */
import type { GatewayKeyStatus } from "../../../domain/gateway/keys/key-status.ts";
import { ErrorSummary, Hidden, SignOutForm } from "../forms.tsx";
import { type Branding, renderPage } from "../layout.tsx";
import { countText, roleText } from "../words.ts";
import { GatewayKey } from "./account-key.tsx";
import {
  type BrowserRow,
  Browsers,
  type Rows,
  type WorkstationRow,
  Workstations,
} from "./account-logins.tsx";
import { PasswordFields, type PasswordProps } from "./password-fields.tsx";

export interface LoginCounts {
  browsers: number;
  workstations: number;
}

/** A page or list for administrators. */
export interface AdminLink {
  href: string;
  name: string;
}

export interface AccountSettingsProps {
  email: string;
  /** `admin` or `member` */
  role: string;
  csrf: string;
  /** confirmation of the last form */
  notice?: string | undefined;
  /** omitted for users without a password */
  password?: PasswordProps | undefined;
  /** number of second factors; omitted if the account cannot have one */
  secondFactors?: number | undefined;
  counts: LoginCounts;
  browsers: Rows<BrowserRow>;
  workstations: Rows<WorkstationRow>;
  gatewayKey: GatewayKeyStatus;
  /** empty for members */
  adminLinks: readonly AdminLink[];
  branding: Branding;
}

/** Forms post to /account/password, /account/logins/ID/end, /account/gateway-key/ACTION and /sign-out. */
export function accountSettingsPage(props: AccountSettingsProps): string {
  const { email, role, csrf, notice, password, counts, gatewayKey, adminLinks, branding } = props;
  const error = password?.error;
  return renderPage(
    { title: "Account settings", error: error?.message, branding, isWide: true },
    <>
      {notice === undefined ? null : (
        <p class="notice" role="status">
          {notice}
        </p>
      )}
      <ErrorSummary error={error?.message} {...(error && { fieldId: error.field })} />
      <p>
        You are <strong>{email}</strong>. Your role is <strong>{roleText(role)}</strong>.{" "}
        <a href="/device">Enter the code of a workstation</a>
      </p>
      <Password {...{ password, email, csrf }} />
      <SecondFactor count={props.secondFactors} />
      <Browsers list={props.browsers} total={counts.browsers} csrf={csrf} />
      <Workstations list={props.workstations} total={counts.workstations} csrf={csrf} />
      <section aria-labelledby="everywhere-title">
        <h2 id="everywhere-title">Sign out everywhere</h2>
        <p>Ends every login immediately: all browsers, including this one, and all workstations.</p>
        <a class="button danger narrow" href="/account/sign-out-everywhere">
          Sign out everywhere
        </a>
      </section>
      <GatewayKey status={gatewayKey} csrf={csrf} />
      <AdminLinks links={adminLinks} />
      <SignOutForm csrf={csrf} email={email} />
    </>,
  );
}

function SecondFactor({ count }: { count: number | undefined }) {
  if (count === undefined) return null;
  return (
    <section aria-labelledby="second-factor-title">
      <h2 id="second-factor-title">Second factor</h2>
      <p>
        {count === 0
          ? "Your password has no second factor. A passkey or an authenticator app protects it better."
          : `Signing in also asks for your second factor. You have ${count}.`}
      </p>
      <a class="button narrow" href="/account/second-factor">
        {count === 0 ? "Set up a second factor" : "Manage second factors"}
      </a>
    </section>
  );
}

interface PasswordSectionProps {
  password: PasswordProps | undefined;
  email: string;
  csrf: string;
}

function Password({ password, email, csrf }: PasswordSectionProps) {
  return (
    <section id="password" aria-labelledby="password-title">
      <h2 id="password-title">Password</h2>
      {password === undefined ? (
        <p>Your organization manages how you sign in, so there is no password to change here.</p>
      ) : (
        <form class="narrow" method="post" action="/account/password">
          <Hidden name="csrf" value={csrf} />
          <PasswordFields {...password} email={email} />
        </form>
      )}
    </section>
  );
}

function AdminLinks({ links }: { links: readonly AdminLink[] }) {
  if (links.length === 0) return null;
  return (
    <section aria-labelledby="administration-title">
      <h2 id="administration-title">Administration</h2>
      <p>
        The <a href="/help">handbook</a> describes this service. Data for programs of administrators:
      </p>
      <ul class="links">
        {links.map(({ href, name }) => (
          <li key={href}>
            <a href={href}>{name}</a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** @returns a description of signing out everywhere, for example `This signs out this browser and 1 workstation.` */
export function signOutText({ browsers, workstations }: LoginCounts): string {
  const here = browsers > 1 ? `${countText(browsers, "browser")}, this one included,` : "this browser";
  const there = workstations > 0 ? ` and ${countText(workstations, "workstation")}` : "";
  return `This signs out ${here}${there}.`.replace(/,\.$/, ".");
}

/** @returns for example `3 browsers and 1 workstation` */
const loginsText = ({ browsers, workstations }: LoginCounts): string =>
  [
    countText(browsers, "browser"),
    ...(workstations > 0 ? [countText(workstations, "workstation")] : []),
  ].join(" and ");

/** Confirms how many logins ended. */
export function signedOutEverywherePage({
  counts,
  branding,
}: {
  counts: LoginCounts;
  branding: Branding;
}): string {
  const { browsers, workstations } = counts;
  const verb = browsers + workstations === 1 ? "was" : "were";
  return renderPage(
    { title: "You are signed out everywhere", branding },
    <>
      <p role="status">
        {loginsText(counts)} {verb} signed out. They no longer have access.
      </p>
      <a class="button primary" href="/login">
        Sign in
      </a>
    </>,
  );
}
