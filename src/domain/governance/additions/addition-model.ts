// Shapes of a package that an administrator adds step by step: its archive, its name, its layouts and who gets it.
import { sha256Hex } from "../../../platform/ids.ts";
import { ownMember } from "../../../platform/json/json-object.ts";
import type { ManagedPackage } from "../../catalog/service.ts";
import type { PackageAudience, PackageAudiences } from "../model.ts";

/** Days after its last step until an addition is removed. */
export const ADDITION_DAYS_MAX = 30;

/** The archive, which is stored already. */
export interface AdditionSource {
  /** address of the archive, or the name of the uploaded file */
  sourceRef: string;
  /** of a repository */
  commit?: string;
  artifactId: string;
  /** lower case */
  sha256: string;
}

export interface AdditionIdentity {
  id: string;
  version: string;
  /** empty for none */
  name: string;
}

/** The results of the steps so far, in their order. */
export interface AdditionContent {
  source: AdditionSource;
  identity?: AdditionIdentity;
  /** the package with its id that it may replace; undefined if there was none */
  replaces?: ManagedPackage | undefined;
  adapters?: ManagedPackage["adapters"];
  audience?: PackageAudience;
  /** `audienceMark` of the draft when the audience was chosen */
  audienceRead?: string;
}

export interface Addition extends AdditionContent {
  /** id of the administrator */
  ownerId: string;
  organizationId: string;
  /** grows by one with each step */
  version: number;
  savedAtMs: number;
}

/** An addition whose steps are all done. */
export type CompleteAddition = Addition & Required<Omit<AdditionContent, "replaces" | "audienceRead">>;

/** @returns the addition if no step is missing */
export const completeAddition = (addition: Addition): CompleteAddition | undefined => {
  const { identity, adapters, audience } = addition;
  return identity && adapters && audience ? { ...addition, identity, adapters, audience } : undefined;
};

/** @returns a text that changes with who gets the package according to the draft */
export const audienceMark = (
  { identity }: Pick<Addition, "identity">,
  { audiences }: { audiences: PackageAudiences },
): string => sha256Hex(JSON.stringify((identity && ownMember(audiences, identity.id)) ?? null)).slice(0, 16);

/**
 * @param replaced the package with its id, whose settings stay; its name, too, if no other one is given
 * @returns the package as in the policy; without layouts as long as that step is not done
 */
export const packageOf = (
  { source, identity, adapters = {} }: AdditionContent & { identity: AdditionIdentity },
  { name: formerName = "", settings }: Partial<Pick<ManagedPackage, "name" | "settings">> = {},
) => ({
  id: identity.id,
  ...((identity.name || formerName) && { name: identity.name || formerName }),
  version: identity.version,
  source_ref: source.sourceRef,
  artifact_id: source.artifactId,
  sha256: source.sha256,
  adapters,
  ...(settings && { settings }),
});
