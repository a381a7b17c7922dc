// The progress of the reconciliation of all gateway keys. The address contains the counts at its start.
/** @jsxImportSource preact */
import type { Reconciled } from "../../../domain/gateway/keys/reconciler.ts";
import type { GatewayFigures } from "../../../domain/gateway/service.ts";
import type { ConsolePage } from "../frame/frame.tsx";
import { pathWith } from "../list/address.ts";
import type { Values } from "../list/list.ts";
import { AsCommand } from "../parts/command.tsx";
import { Count, State } from "../parts/values.tsx";
import { KEYS_PATH, PROGRESS_PATH } from "./words.ts";

/** @param begun what was due at the start */
export const reconciliationPath = ({ keys, revocations }: Reconciled): string =>
  pathWith(PROGRESS_PATH, new URLSearchParams({ keys: String(keys), revocations: String(revocations) }));

/** @returns the page with the remaining counts; invalid numbers in the address count as 0 */
export const reconciliationPage = (values: Values, figures: GatewayFigures): ConsolePage => {
  const whole = Math.max(countIn(values.keys), figures.due);
  const { due, problems, revocationsPending } = figures;
  const isOver = due === 0 && revocationsPending === 0;
  return {
    title: "Reconciliation of all gateway keys",
    breadcrumbs: [{ href: KEYS_PATH, label: "Gateway keys" }],
    live: ["keys", "jobs"],
    content: (
      <>
        <div id="reconciliation" class="panel" data-region>
          <div class="stretch">
            {whole > 0 && (
              <p>
                <progress value={whole - due} max={whole} aria-label="Reconciled keys" />
              </p>
            )}
            <p>
              <Count value={whole - due} /> of <Count value={whole} /> keys are reconciled.
            </p>
            <Revocations left={revocationsPending} whole={countIn(values.revocations)} />
            {isOver && (
              <p>
                <State tone="good">Nothing is left to do</State>
              </p>
            )}
            {problems > 0 && (
              <p>
                <a href={`${KEYS_PATH}?problem=true`}>
                  Keys with a problem: <Count value={problems} />
                </a>
              </p>
            )}
          </div>
        </div>
        <p>
          The service continues when you leave this page. <a href={KEYS_PATH}>Back to the keys</a>
        </p>
        <AsCommand
          command={["keys", "reconcile"]}
          api={{ method: "POST", path: "/admin/gateway/keys/reconcile" }}
        />
      </>
    ),
  };
};

const countIn = (text = ""): number => (/^\d{1,9}$/.test(text) ? Number(text) : 0);

function Revocations({ left, whole }: { left: number; whole: number }) {
  if (left === 0 && whole === 0) return null;
  return left === 0 ? (
    <p>All revocations are done at the gateway.</p>
  ) : (
    <p>
      Revocations that are still open at the gateway: <Count value={left} />. They are tried again until the
      gateway accepts them.
    </p>
  );
}
