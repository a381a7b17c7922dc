// The page below the account on which users manage their second factors.
/** @jsxImportSource preact */
import { Fact, Time } from "../account/account-logins.tsx";
import { Hidden } from "../forms.tsx";
import { type Branding, renderPage } from "../layout.tsx";
import { countText } from "../words.ts";

/** Times are RFC 3339. */
interface FactorRow {
  createdAt: string;
  usedAt: string | null;
}

export interface FactorsProps {
  csrf: string;
  notice?: string | undefined;
  app: FactorRow | null;
  passkeys: readonly (FactorRow & { id: string; name: string })[];
  recoveryCodes: number;
  /** whether the user must keep a factor */
  isRequired: boolean;
  /** whether passkeys work at this origin */
  offersPasskeys: boolean;
  /** paths of the pages that set up a factor */
  paths: { app: string; newPasskey: string };
  branding: Branding;
}

const PATH = "/account/second-factor";

/** Forms post to /account/second-factor/authenticator-app/remove, /passkeys/ID/remove and /recovery-codes. */
export function factorsPage(props: FactorsProps): string {
  const { notice, app, passkeys, isRequired, branding } = props;
  const hasFactor = app !== null || passkeys.length > 0;
  return renderPage(
    { title: "Second factor", branding, isWide: true },
    <>
      {notice === undefined ? null : (
        <p class="notice" role="status">
          {notice}
        </p>
      )}
      <p>{introduction(hasFactor, isRequired)}</p>
      <Passkeys {...props} />
      <App {...props} />
      {hasFactor ? <RecoveryCodes {...props} /> : null}
      <p class="following">
        <a href="/account">Account settings</a>
      </p>
    </>,
  );
}

function introduction(hasFactor: boolean, isRequired: boolean): string {
  if (hasFactor) return "Signing in with your password also asks for one of these.";
  const text = "Protect your account with something besides your password.";
  return isRequired ? `${text} Your organization requires it.` : text;
}

function Passkeys({ csrf, passkeys, offersPasskeys, paths }: FactorsProps) {
  return (
    <section aria-labelledby="passkeys-title">
      <h2 id="passkeys-title">Passkeys</h2>
      <p>
        Your fingerprint, face, PIN or security key. A passkey works only on this site, so it cannot be
        phished.
      </p>
      {passkeys.length === 0 ? null : (
        <ul class="logins">
          {passkeys.map((passkey) => (
            <Factor
              key={passkey.id}
              row={passkey}
              title={passkey.name}
              csrf={csrf}
              action={`${PATH}/passkeys/${passkey.id}/remove`}
              which={`passkey ${passkey.name}`}
            />
          ))}
        </ul>
      )}
      {offersPasskeys ? (
        <a class="button narrow following" href={paths.newPasskey}>
          Add a passkey
        </a>
      ) : (
        <p class="hint">Passkeys need an https address with a host name. This service has none.</p>
      )}
    </section>
  );
}

function App({ csrf, app, paths }: FactorsProps) {
  return (
    <section aria-labelledby="app-title">
      <h2 id="app-title">Authenticator app</h2>
      <p>An app on your phone shows a new code every 30 seconds.</p>
      {app === null ? null : (
        <ul class="logins">
          <Factor
            row={app}
            title="Authenticator app"
            csrf={csrf}
            action={`${PATH}/authenticator-app/remove`}
            which="authenticator app"
          />
        </ul>
      )}
      <a class="button narrow following" href={paths.app}>
        {app === null ? "Set up an authenticator app" : "Move to another authenticator app"}
      </a>
    </section>
  );
}

function RecoveryCodes({ csrf, recoveryCodes }: FactorsProps) {
  return (
    <section aria-labelledby="codes-title">
      <h2 id="codes-title">Recovery codes</h2>
      <p>
        You have {recoveryCodes === 0 ? "no recovery codes" : countText(recoveryCodes, "recovery code")} left.
        Each signs you in once if you lose your second factor.
      </p>
      <form class="narrow" method="post" action={`${PATH}/recovery-codes`}>
        <Hidden name="csrf" value={csrf} />
        <button class="button" type="submit">
          Replace recovery codes
        </button>
      </form>
    </section>
  );
}

interface FactorRowProps {
  row: FactorRow;
  title: string;
  csrf: string;
  action: string;
  /** distinguishes the button from the buttons of other rows */
  which: string;
}

function Factor({ row, title, csrf, action, which }: FactorRowProps) {
  return (
    <li class="login">
      <div class="login-head">
        <h3 dir="auto">{title}</h3>
      </div>
      <dl class="facts">
        <Fact name="Added">
          <Time value={row.createdAt} />
        </Fact>
        <Fact name="Last used">{row.usedAt === null ? "Never" : <Time value={row.usedAt} />}</Fact>
      </dl>
      <form method="post" action={action}>
        <Hidden name="csrf" value={csrf} />
        <button class="button danger" type="submit">
          Remove<span class="visually-hidden"> {which}</span>
        </button>
      </form>
    </li>
  );
}
