// Finds the provider for a command: the one in the option, or the configured one.
import { issuerUrl } from "../../../src/platform/config/addresses.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";

const FLAGS = { issuer: "--issuer", toIssuer: "--to-issuer" } as const;

/** @throws DomainError `identity.issuer_missing`, `identity.issuer_invalid` */
export function issuerFor({ domain, text }: Call, option: keyof typeof FLAGS): string {
  const given = text(option);
  if (given === undefined) {
    const configured = domain.sso.settings()?.issuer;
    if (configured !== undefined) return configured;
    throw new DomainError("invalid", "identity.issuer_missing", "no identity provider is configured", {
      hint: `add ${FLAGS[option]} URL, or --config FILE of a configuration with identity.oidc.issuer`,
    });
  }
  const reading = issuerUrl.read(given, "");
  if ("value" in reading) return reading.value;
  throw new DomainError("invalid", "identity.issuer_invalid", `${FLAGS[option]} ${reading.wrong}`, {
    hint: "copy `issuer` from the provider's discovery document",
  });
}
