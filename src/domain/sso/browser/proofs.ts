// A person who came back from the provider and must prove the password of a local account once. The browser's form carries the
// sealed person, so that nothing is stored here. The sealed value depends on the rules, so it becomes invalid when they change.
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Clock, MINUTE_MS } from "../../../platform/clock.ts";
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import { stateUnknown } from "../errors.ts";
import type { Person } from "../model.ts";
import type { CurrentSsoSettings, SsoSettings } from "../settings.ts";
import { openSealed } from "./attempts.ts";

export const PROOF_TTL_MS = 10 * MINUTE_MS;

const Text = Type.Optional(Type.String());
const PersonSchema = Type.Object({
  issuer: Type.String(),
  subject: Type.String(),
  email: Text,
  emailVerified: Type.Union([Type.Boolean(), Type.Literal("absent")]),
  name: Text,
  groups: Type.Union([
    Type.Object({ known: Type.Array(Type.String()) }),
    Type.Object({
      unknown: Type.Union(
        (["absent", "overage", "malformed", "too_many"] as const).map((word) => Type.Literal(word)),
      ),
    }),
  ]),
  externalId: Text,
  missingClaims: Type.Array(Type.String()),
  providerSessionId: Text,
  authTimeMs: Type.Optional(Type.Number()),
  acr: Text,
});
const ProofSchema = Type.Object({ person: PersonSchema, callbackURL: Text, startedMs: Type.Integer() });

export interface Proof {
  person: Person;
  /** a path of ours */
  callbackURL: string | undefined;
}

/** A sealed proof with its time. */
export interface StartedProof extends Proof {
  startedMs: number;
}

export class Proofs {
  constructor(
    private readonly dependencies: {
      clock: Clock;
      sealing: Pick<Sealing, "seal" | "open">;
      settings: CurrentSsoSettings;
    },
  ) {}

  /** @param browser secret of the only browser that can use the result */
  seal({ person, callbackURL }: Proof, browser: string): string {
    const startedMs = this.dependencies.clock.nowMs();
    const groups = this.#groupsOfRules(person);
    const proof = { person: { ...person, groups }, callbackURL, startedMs };
    return this.dependencies.sealing.seal(JSON.stringify(proof), this.#contextOf(browser));
  }

  /** Keeps the form small, because people may have hundreds of groups. */
  #groupsOfRules({ groups }: Person): Person["groups"] {
    const settings = this.dependencies.settings();
    if (!settings || "unknown" in groups) return groups;
    const { allowedGroups, groupRoleMappings } = settings;
    return {
      known: groups.known.filter((name) => groupRoleMappings.has(name) || allowedGroups.includes(name)),
    };
  }

  /** @throws DomainError `sso.state` for a text that was not sealed for this browser under these rules, or is too old */
  open(sealed: string | undefined, browser: string): StartedProof {
    const proof = openSealed(this.dependencies.sealing, sealed, this.#contextOf(browser));
    if (!Value.Check(ProofSchema, proof) || this.dependencies.clock.nowMs() - proof.startedMs >= PROOF_TTL_MS)
      throw stateUnknown();
    const { email, name, externalId, providerSessionId, authTimeMs, acr, ...person } = proof.person;
    return {
      person: { ...person, email, name, externalId, providerSessionId, authTimeMs, acr },
      callbackURL: proof.callbackURL,
      startedMs: proof.startedMs,
    };
  }

  #contextOf(browser: string): string {
    const settings = this.dependencies.settings();
    return `proof of a password, ${browser}, ${settings ? rulesOf(settings) : ""}`;
  }
}

/** The settings that turn claims into a person. */
const rulesOf = (settings: SsoSettings): string =>
  JSON.stringify([
    settings.issuer,
    settings.externalIdClaim,
    settings.groupsClaim,
    [...settings.groupRoleMappings],
    settings.allowedGroups,
    [...settings.requiredClaims],
  ]);
