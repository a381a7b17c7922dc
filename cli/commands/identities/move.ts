// `identities create --from-issuer`: prepares the users of a former provider for the one that replaces it.
import type { Move, MovePlan } from "../../../src/domain/sso/service.ts";
import { countText } from "../../../src/platform/count-text.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";
import { issuerFor } from "./issuer.ts";

/** Matching by external id writes nothing, because SCIM has already provided the ids, so there is nothing to confirm. */
export async function move(call: Call): Promise<void> {
  const { domain, actor, context, command, output, text } = call;
  const wanted: Move = {
    fromIssuer: text("fromIssuer") ?? "",
    toIssuer: issuerFor(call, "toIssuer"),
    by: text("by") === "email" ? "email" : "external_id",
  };
  const plan = domain.sso.moves.plan(actor, wanted);
  const { prepared, linkedBefore } = plan;
  if (wanted.by === "external_id") {
    warnOfClaim(call);
    const found = `${countText(prepared.length, "user")} will be linked by external id at the next sign-in`;
    return output.result(documentOf(wanted, plan, false), [found, ...leftLines(plan)].join("\n"));
  }
  if (prepared.length === 0) {
    const text = `unchanged: nobody is left to move; ${linkedBefore} already linked there`;
    return output.result(documentOf(wanted, plan, false), [text, ...leftLines(plan)].join("\n"));
  }
  const action = `prepare ${countText(prepared.length, "user")} of ${wanted.fromIssuer} to sign in at ${wanted.toIssuer}`;
  if (!(await isConfirmed(context, command, { action, details: detailsOf(call, wanted, plan) }))) return;
  const done = await domain.sso.moves.move(actor, wanted);
  const moved = `${countText(done.prepared.length, "user")} will be linked at the first sign-in at ${wanted.toIssuer}, for 30 days`;
  output.result(documentOf(wanted, done, true), [moved, ...leftLines(done)].join("\n"));
}

function detailsOf({ domain }: Call, { toIssuer }: Move, plan: MovePlan): string[] {
  const administrators = countAdministrators(plan);
  const configured = domain.sso.settings()?.issuer;
  return [
    "For 30 days, the first person who signs in there with the verified address of such a user gets the account.",
    ...(administrators > 0
      ? [
          `Warning: ${countText(administrators, "of them is an administrator", "of them are administrators")}.`,
        ]
      : []),
    ...(configured === toIssuer ? [] : ["Warning: this issuer is not the configured one."]),
    "The links at the former provider stay, but grant no access.",
    ...leftLines(plan),
  ];
}

const countAdministrators = ({ prepared }: MovePlan): number =>
  prepared.filter(({ role }) => role === "admin").length;

/** Further users are only counted; `--json` lists all of them. */
const LEFT_SHOWN_MAX = 20;

function leftLines({ left }: MovePlan): string[] {
  if (left.length === 0) return [];
  const shown = left.slice(0, LEFT_SHOWN_MAX).map(({ email }) => `  ${email}`);
  const others = left.length - shown.length;
  const rest = others === 0 ? [] : [`  and ${others} more: see \`left\` of --json`];
  return ["To be linked by hand with identities create:", ...shown, ...rest];
}

function warnOfClaim({ domain, output }: Call): void {
  if (domain.sso.settings()?.externalIdClaim === undefined)
    output.warning("identity.oidc.external_id_claim is not set, so no sign-in is linked by external id");
}

const documentOf = ({ fromIssuer, toIssuer, by }: Move, plan: MovePlan, changed: boolean) => ({
  changed,
  from_issuer: fromIssuer,
  to_issuer: toIssuer,
  by,
  prepared: plan.prepared.length,
  administrators: countAdministrators(plan),
  linked_before: plan.linkedBefore,
  left: plan.left.map(({ id, email }) => ({ id, email })),
});
