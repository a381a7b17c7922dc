// The effect of a policy change, in the API.
import { type Static, Type } from "@sinclair/typebox";
import { HARNESS_KEYS } from "../../harnesses/harnesses.ts";
import { type PolicyImpact, REFUSED_VERSIONS_MAX, WORKSTATIONS_COUNTED_MAX } from "./impact.ts";
import { PEOPLE_NAMED_MAX } from "./people.ts";

const Count = Type.Integer({ minimum: 0 });
const Version = Type.Union([Type.String(), Type.Null()]);
const People = Type.Object({
  count: Count,
  named: Type.Array(Type.String(), {
    description: `Addresses, at most ${PEOPLE_NAMED_MAX}; none if the package is for the whole organization`,
  }),
});

export const PolicyImpactView = Type.Object({
  workstations: Type.Object({
    total: Type.Integer({ minimum: 0, description: "All workstations of the organization" }),
    counted: Type.Integer({
      minimum: 0,
      description: `Basis of all other figures: the ${WORKSTATIONS_COUNTED_MAX} workstations seen last`,
    }),
    outdated: Type.Integer({ description: "Follow the current revision and would fetch the new one" }),
    refused: Type.Integer({ description: "Have a harness that may run now and would be refused" }),
    client_too_old: Type.Integer({ description: "Have a client that is older than the change requires" }),
    uncounted: Type.Integer({ description: "This version has not evaluated their last report yet" }),
  }),
  harnesses: Type.Array(
    Type.Object({
      harness: Type.Union(HARNESS_KEYS.map((key) => Type.Literal(key))),
      installed: Count,
      refused: Count,
      admitted: Type.Integer({ description: "Refused now, allowed by the change" }),
      allowed: Type.Integer({
        description:
          "Allowed by the change; 0 together with `refused` means that no workstation could run it",
      }),
      refused_versions: Type.Array(
        Type.Object({ version: Type.String(), clients: Count, reason: Type.String() }),
        { description: `Most frequent first, at most ${REFUSED_VERSIONS_MAX}` },
      ),
    }),
  ),
  packages: Type.Array(
    Type.Object({
      id: Type.String(),
      from: { ...Version, description: "Null if the package is new" },
      to: { ...Version, description: "Null if it is removed" },
      gaining: People,
      losing: People,
    }),
    { description: "Packages that change" },
  ),
  gateway_keys: Type.Integer({
    description: "Keys at the gateway whose use the change starts or ends; 0 unless it changes gateway mode",
  }),
});

export const toPolicyImpact = ({
  workstations: { clientTooOld, ...counts },
  harnesses,
  packages,
  gatewayKeys,
}: PolicyImpact): Static<typeof PolicyImpactView> => ({
  workstations: { ...counts, client_too_old: clientTooOld },
  harnesses: harnesses.map(({ versions, ...rest }) => ({ ...rest, refused_versions: [...versions] })),
  packages: packages.map(({ id, from, to, gaining, losing }) => ({
    id,
    from: from ?? null,
    to: to ?? null,
    gaining: { ...gaining, named: [...gaining.named] },
    losing: { ...losing, named: [...losing.named] },
  })),
  gateway_keys: gatewayKeys,
});
