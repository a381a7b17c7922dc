// Formats how people sign in: with passwords, or at the identity provider, and whether that works.
import { isReportedByBrowser } from "../../../src/domain/sso/service.ts";
import type { Fact } from "../../output/details.ts";
import type { Content } from "./read.ts";

type SignIn = Content["signIn"];

export function signInFacts(signIn: SignIn): Fact[] {
  const { mode, issuer, provider_name: name, provisioning, dueSoon } = signIn;
  if (issuer === null)
    return mode === "password"
      ? [["sign-in", "passwords"]]
      : [
          [
            "sign-in",
            "company sign-in, but the settings of this command do not contain identity.oidc.issuer",
          ],
        ];
  const also = mode === "password" ? ", or passwords" : "";
  return [
    ["sign-in", `${name} (${issuer})${also}; who may: ${provisioning}`],
    ["", lastText(signIn)],
    ...(dueSoon > 0 ? [["", dueText(dueSoon)] satisfies Fact] : []),
  ];
}

function lastText({ last_success_at: success, last_error_reason: error }: SignIn): string {
  const succeeded = success === null ? "no sign-in has succeeded yet" : `last success ${success}`;
  if (error === null) return succeeded;
  return isReportedByBrowser(error)
    ? `${succeeded}; a browser returned with ${error}: see sso show`
    : `failing: ${error} (${succeeded}); see sso verify`;
}

const dueText = (count: number): string =>
  count === 1
    ? "1 user must sign in at the provider again within 24 hours"
    : `${count} users must sign in at the provider again within 24 hours`;

export const signInDocument = ({ dueSoon, ...signIn }: SignIn) => ({ ...signIn, due_within_day: dueSoon });
