// Assembles the management of users' gateway keys. inference/inference.ts assembles the inference part.
import { runSynchronously, type Steps } from "../../platform/steps.ts";
import { KeyAdministration } from "./administration/administration.ts";
import { BulkKeyChanges } from "./administration/bulk-key-changes.ts";
import { KeyDirectory } from "./administration/key-directory.ts";
import type { GatewayDependencies } from "./dependencies.ts";
import { GatewayKeys, gatewayOff } from "./keys/keys.ts";
import { Reconciler } from "./keys/reconciler.ts";
import * as store from "./keys/store.ts";
import { dueKeys, type KeyState } from "./model.ts";
import type { ListingQuestion } from "./provisioners/provisioner-calls.ts";

export type { KeyView } from "./administration/key-directory.ts";
export type { AttemptOwner, GatewayMode, ProvisionerCall } from "./dependencies.ts";
export type { InferenceTokens, Workstation } from "./inference/inference-tokens.ts";
export type { ReplaceKey, UsableKey } from "./inference/key-replacement.ts";
export type { Resolve, ResolvedKey } from "./inference/key-resolver.ts";
export type { EndedBy, SessionWatch } from "./inference/session-watch.ts";
export type { GatewayKeyStatus } from "./keys/key-status.ts";
export { type GatewayKeys, gatewayOff, type RejectionReason } from "./keys/keys.ts";
export { rejectionReasonIn } from "./provisioners/litellm/litellm-refusals.ts";
export { type ListedModel, ListingError, type ModelListing } from "./provisioners/model-listing.ts";
export type { ListingQuestion } from "./provisioners/provisioner-calls.ts";
export { GATEWAY_SESSION_CLAIM, INFERENCE_SCOPE, SESSION_CLAIM } from "./wire.ts";

export type Gateway = ReturnType<typeof createGateway>;

/** Called once, in domain.ts. */
export function createGateway(dependencies: GatewayDependencies) {
  const { mode } = dependencies;
  const keys = new GatewayKeys(dependencies);
  const reconciler = mode && keys.attempts && new Reconciler(dependencies, mode, keys.attempts);
  const directory = new KeyDirectory(dependencies);
  const administration = new KeyAdministration(dependencies, { keys, directory, reconciler });
  return {
    /** Grows whenever this or another process may have changed keys. */
    revision: (): number => dependencies.db.revision("gateway"),
    mode,
    keys,
    directory,
    /** undefined when gateway mode is off */
    reconciler,
    /** @returns whether keys can be read; errors of the database propagate */
    isReadable: () => store.findKey(dependencies.db.read, "") === undefined,
    /**
     * Contacts the gateway. The list is checked as a whole.
     * @throws ListingError; DomainError `gateway.off`
     */
    listModels: (question: ListingQuestion) => {
      if (!keys.attempts) throw gatewayOff();
      return keys.attempts.calls.listModels(question);
    },
    /** operator actions */
    administration,
    bulkKeys: new BulkKeyChanges(dependencies, { keys, directory, administration }),
    /** @returns the number of keys per provisioner error code, most frequent first */
    problems: () => store.countProblems(dependencies.db.read),
    /** @returns the number of all users' keys, in any state */
    countKeys: (): number =>
      store.countStates(dependencies.db.read).reduce((sum, { total }) => sum + total, 0),

    /** See `figuresInSteps`. */
    figures: (): GatewayFigures => runSynchronously(figuresInSteps(dependencies)),
    figuresInSteps: (): Steps<GatewayFigures> => figuresInSteps(dependencies),
  };
}

export interface GatewayFigures {
  /** keys per stored state */
  keys: { state: KeyState; total: number }[];
  due: number;
  /** keys whose last attempt failed */
  problems: number;
  revocationsPending: number;
}

/** Counts in several steps, each in its own index. */
function* figuresInSteps({ db, clock, mode }: GatewayDependencies): Steps<GatewayFigures> {
  const times = dueKeys(clock.nowMs(), mode?.settings.provisioner.reconcileTtlSeconds ?? 0);
  const keys = store.countStates(db.read);
  yield;
  const due = store.countDue(db.read, times);
  yield;
  const problems = store.countWithProblem(db.read);
  yield;
  return { keys, due, problems, revocationsPending: store.countRevocations(db.read) };
}
