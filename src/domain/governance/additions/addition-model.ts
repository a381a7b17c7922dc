// Shapes of a package that an administrator adds step by step: its archive, name, layouts and audience.
import { sha256Hex } from "../../../platform/ids.ts";
import { ownMember } from "../../../platform/json/json-object.ts";
import type { ManagedPackage } from "../../catalog/service.ts";
import type { PackageAudience, PackageAudiences } from "../model.ts";

/** Days after the last step until an addition is removed. */
export const ADDITION_DAYS_MAX = 30;

/** The archive, which is already stored. */
export interface AdditionSource {
  /** URL of the archive, or the name of the uploaded file */
  sourceRef: string;
  /** commit of a repository */
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

/** The results of the steps so far, in order. */
export interface AdditionContent {
  source: AdditionSource;
  identity?: AdditionIdentity;
  /** the package with the same id that it may replace; undefined if there was none */
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

/** An addition with all steps done. */
export type CompleteAddition = Addition & Required<Omit<AdditionContent, "replaces" | "audienceRead">>;

/** @returns the addition; undefined if a step is missing */
export const completeAddition = (addition: Addition): CompleteAddition | undefined => {
  const { identity, adapters, audience } = addition;
  return identity && adapters && audience ? { ...addition, identity, adapters, audience } : undefined;
};

/** @returns a text that changes with the package's audience in the draft */
export const audienceMark = (
  { identity }: Pick<Addition, "identity">,
  { audiences }: { audiences: PackageAudiences },
): string => sha256Hex(JSON.stringify((identity && ownMember(audiences, identity.id)) ?? null)).slice(0, 16);

/**
 * @param replaced the package with the same id, whose settings stay; its name also stays unless a new one is given
 * @returns the package in the policy's form, without layouts until that step is done
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
