// The gateway key section of the account page: the key's state and the available actions. It never shows the key itself.
/** @jsxImportSource preact */
import type { GatewayKeyStatus } from "../../../domain/gateway/keys/key-status.ts";
import { Hidden } from "../forms.tsx";
import { asSentence } from "../words.ts";
import { Fact, Time } from "./account-logins.tsx";
import { KEY_ACTIONS_IN, KEY_SENTENCES, keyProblem } from "./key-words.ts";

/** Posts `csrf` to /account/gateway-key/ACTION. */
export function GatewayKey({ status: key, csrf }: { status: GatewayKeyStatus; csrf: string }) {
  return (
    <section id="gateway-key" aria-labelledby="gateway-key-title">
      <h2 id="gateway-key-title">Gateway key</h2>
      {key.enabled ? (
        <>
          <p>{KEY_SENTENCES[key.status]}</p>
          <Problem status={key} />
          <Facts {...key} />
          <div class="choices narrow">
            {KEY_ACTIONS_IN[key.status].map(([action, label]) => (
              <form key={action} method="post" action={`/account/gateway-key/${action}`}>
                <Hidden name="csrf" value={csrf} />
                <button class="button" type="submit">
                  {label}
                </button>
              </form>
            ))}
            {key.status === "missing" ? null : (
              <a class="button danger" href="/account/gateway-key/revoke">
                Revoke key
              </a>
            )}
          </div>
        </>
      ) : (
        <p>Gateway mode is off, so you do not need a key.</p>
      )}
    </section>
  );
}

function Problem({ status: key }: { status: GatewayKeyStatus }) {
  const problem = keyProblem(key);
  if (problem === null) return null;
  return (
    <p class="warning">
      {key.status === "ready" ? "The last check failed, but the key still works. " : null}
      {asSentence(problem)}
    </p>
  );
}

function Facts(key: GatewayKeyStatus) {
  const { alias, expires_at: expiresAt, last_reconciled_at: checkedAt, next_retry_at: retryAt } = key;
  if (alias === null && expiresAt === null && checkedAt === null && retryAt === null) return null;
  return (
    <dl class="facts">
      {alias === null ? null : <Fact name="Name at the gateway">{alias}</Fact>}
      {expiresAt === null ? null : (
        <Fact name="Expires">
          <Time value={expiresAt} />
        </Fact>
      )}
      {checkedAt === null ? null : (
        <Fact name="Last checked">
          <Time value={checkedAt} />
        </Fact>
      )}
      {retryAt === null ? null : (
        <Fact name="Next attempt">
          <Time value={retryAt} />
        </Fact>
      )}
    </dl>
  );
}
