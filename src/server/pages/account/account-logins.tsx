// The login lists of the account page, browsers and workstations, with details and a button that ends each login.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import { Hidden } from "../forms.tsx";
import { browserText } from "../user-agent.ts";
import { countText, timeText } from "../words.ts";

/** A signed-in browser. Times are RFC 3339. */
export interface BrowserRow {
  id: string;
  userAgent: string | null;
  address: string | null;
  signedInAt: string;
  /** name of the provider through which the browser signed in; undefined for a password */
  through?: string | undefined;
  usedAt: string | null;
  /** number of active workstations that this browser approved */
  approved: number;
  /** whether this browser shows the page */
  isCurrent: boolean;
}

/** A signed-in workstation. Times are RFC 3339. */
export interface WorkstationRow {
  id: string;
  hostname: string | null;
  /** for example `darwin arm64, client 1.4.0`; null if the workstation never reported */
  software: string | null;
  address: string | null;
  approvedAt: string;
  usedAt: string | null;
  expiresAt: string;
}

export interface Rows<Row> {
  rows: readonly Row[];
  /** path of the next page, with older logins */
  older: string | null;
  /** path of the first page; null on the first page */
  newest: string | null;
}

export const Time = ({ value }: { value: string }) => <time dateTime={value}>{timeText(value)}</time>;

export const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

interface LoginProps {
  id: string;
  title: string;
  isCurrent?: boolean;
  csrf: string;
  /** distinguishes the button from the buttons of other rows */
  which: string;
  children: ComponentChildren;
}

function Login({ id, title, isCurrent = false, csrf, which, children }: LoginProps) {
  return (
    <li class="login">
      <div class="login-head">
        <h3 dir="auto">{title}</h3>
        {isCurrent ? <span class="badge">This browser</span> : null}
      </div>
      <dl class="facts">{children}</dl>
      {/* Signing out this browser is the ordinary sign-out, which does not affect workstations. */}
      <form method="post" action={isCurrent ? "/sign-out" : `/account/logins/${id}/end`}>
        <Hidden name="csrf" value={csrf} />
        <button class="button quiet" type="submit">
          Sign out<span class="visually-hidden"> {which}</span>
        </button>
      </form>
    </li>
  );
}

function Pages({ older, newest, what }: { older: string | null; newest: string | null; what: string }) {
  if (older === null && newest === null) return null;
  return (
    <p class="pages">
      {newest === null ? null : <a href={newest}>Newest {what}</a>}
      {older === null ? null : <a href={older}>Older {what}</a>}
    </p>
  );
}

const from = (address: string | null): string => address ?? "Unknown address";

/** Signed-in browsers. Each row posts `csrf` to /account/logins/ID/end. */
export function Browsers({ list, total, csrf }: { list: Rows<BrowserRow>; total: number; csrf: string }) {
  return (
    <section id="browsers" aria-labelledby="browsers-title">
      <h2 id="browsers-title">Browsers</h2>
      <p>
        Signed in: {countText(total, "browser")}. Signing out another browser also signs out the workstations
        that were approved in it.
      </p>
      <ul class="logins">
        {list.rows.map((row) => {
          const title = browserText(row.userAgent);
          return (
            <Login
              key={row.id}
              id={row.id}
              title={title}
              isCurrent={row.isCurrent}
              csrf={csrf}
              which={`${title}, signed in ${timeText(row.signedInAt)}`}
            >
              <Fact name="Signed in">
                <Time value={row.signedInAt} />
              </Fact>
              {row.through === undefined ? null : <Fact name="Through">{row.through}</Fact>}
              <Fact name="From">{from(row.address)}</Fact>
              {row.usedAt === null ? null : (
                <Fact name="Last used (to the hour)">
                  <Time value={row.usedAt} />
                </Fact>
              )}
              {row.approved === 0 ? null : (
                <Fact name="Approved">{countText(row.approved, "workstation")}</Fact>
              )}
            </Login>
          );
        })}
      </ul>
      <Pages older={list.older} newest={list.newest} what="browsers" />
    </section>
  );
}

/** Signed-in workstations. Each row posts `csrf` to /account/logins/ID/end. */
export function Workstations({
  list,
  total,
  csrf,
}: {
  list: Rows<WorkstationRow>;
  total: number;
  csrf: string;
}) {
  return (
    <section id="workstations" aria-labelledby="workstations-title">
      <h2 id="workstations-title">Workstations</h2>
      <p>
        {total === 0
          ? "No workstation is signed in. To sign one in, start the login on the workstation."
          : `Signed in: ${countText(total, "workstation")}.`}
      </p>
      <ul class="logins">
        {list.rows.map((row) => {
          const title = row.hostname ?? "Workstation that has not reported yet";
          return (
            <Login
              key={row.id}
              id={row.id}
              title={title}
              csrf={csrf}
              which={`${title}, approved ${timeText(row.approvedAt)}`}
            >
              {row.software === null ? null : <Fact name="Software">{row.software}</Fact>}
              <Fact name="Approved">
                <Time value={row.approvedAt} />
              </Fact>
              <Fact name="From">{from(row.address)}</Fact>
              {row.usedAt === null ? null : (
                <Fact name="Last used">
                  <Time value={row.usedAt} />
                </Fact>
              )}
              <Fact name="Expires if unused">
                <Time value={row.expiresAt} />
              </Fact>
            </Login>
          );
        })}
      </ul>
      <Pages older={list.older} newest={list.newest} what="workstations" />
    </section>
  );
}
