// Gateway keys of users: joins the files of the area. Each part says in its own file what it does.
import { KeyAdministration } from "./administration/administration.ts";
import type { GatewayDependencies } from "./dependencies.ts";
import { GatewayKeys } from "./keys/keys.ts";
import { Reconciler } from "./keys/reconciler.ts";
import * as store from "./keys/store.ts";
import { dueKeys } from "./model.ts";

export type { KeyView } from "./administration/key-directory.ts";
export type { AttemptOwner, GatewayDependencies, GatewayMode, ProvisionerCall } from "./dependencies.ts";
export type { InferenceToken, Workstation } from "./inference/inference-tokens.ts";
export type { KeyAnswer } from "./keys/keys.ts";
export type { GatewayKeyStatus } from "./model.ts";
export type { GatewaySettings } from "./settings.ts";

export type Gateway = ReturnType<typeof createGateway>;

/** @returns the operations of the area; made once, in domain.ts */
export function createGateway(dependencies: GatewayDependencies) {
  const { mode } = dependencies;
  const keys = new GatewayKeys(dependencies);
  const reconciler = mode && keys.attempts && new Reconciler(dependencies, mode, keys.attempts);
  return {
    mode,
    keys,
    /** undefined where gateway mode is off */
    reconciler,
    /** @returns whether keys can be looked up; what the database throws is passed on */
    isReadable: () => store.findKey(dependencies.db.read, "") === undefined,
    /** what operators see and do */
    administration: new KeyAdministration(dependencies, { keys, reconciler }),
    /** @returns how many keys have each problem, by the provisioner's code, the most frequent first */
    problems: () => store.countProblems(dependencies.db.read),
    /**
     * @returns how many keys are in each stored state, how many have a problem beside it, how many are due for a look, and how many
     *   are yet to be revoked at the gateway
     */
    figures: () => ({
      ...store.countWaiting(
        dependencies.db.read,
        dueKeys(dependencies.clock.nowMs(), mode?.settings.provisioner.reconcileTtlSeconds ?? 0),
      ),
      keys: store.countStates(dependencies.db.read),
      revocationsPending: store.countRevocations(dependencies.db.read),
    }),
  };
}
