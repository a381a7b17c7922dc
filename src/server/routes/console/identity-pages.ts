// Sign-in and provisioning in the console, and the tokens of identity providers.
import { Type } from "@sinclair/typebox";
import { PROVISIONING_SOURCES, type Role } from "../../../domain/identity/model.ts";
import { SCIM_PROFILES } from "../../../domain/scim/model.ts";
import type { ScimTokenView } from "../../../domain/scim/tokens/tokens.ts";
import { SCIM_BASE_PATH } from "../../../domain/scim/wire.ts";
import { offsetOf, type Page, readPageQuery, readWord, refuseProblems } from "../../../domain/shared/page.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import { runInTurns } from "../../../platform/steps.ts";
import type { Console } from "../../console/console.ts";
import { type IdentityFacts, identityPage, type Mapping } from "../../console/identity/identity-page.tsx";
import {
  createdTokenPage,
  newTokenPage,
  revokedTokenPage,
  type TokenInput,
  type TokenRefusal,
} from "../../console/identity/new-token.tsx";
import { ALL_TOKENS, revokeTokenPage, tokensPage } from "../../console/identity/tokens.tsx";
import { IDENTITY_PATH, NEW_TOKEN_PATH, TOKENS_PATH } from "../../console/identity/words.ts";
import { pathWith } from "../../console/list/address.ts";
import {
  found,
  lastPageAddress,
  listValues,
  numberIn,
  placeIn,
  type Values,
} from "../../console/list/list.ts";
import type { Reader } from "../../console/reader.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute, seeOther } from "../../pages/html.ts";
import type { RouteContext } from "../../router.ts";

const REVOKE_ROUTE = `${TOKENS_PATH}/:id/revoke`;
const TokenPath = Type.Object({ id: Type.String() });
const TokenForm = formOf({
  csrf: FormField,
  by: FormField,
  once: FormField,
  label: FormField,
  profile: FormField,
  expires: FormField,
});

export function identityPages(context: RouteContext, console: Console) {
  const { router, domain, baseUrl } = context;
  const { tokens } = domain.scim;
  const scimUrl = () => `${baseUrl()}${SCIM_BASE_PATH}`;

  const listPage = async (reader: Reader) => {
    const values = listValues(reader);
    const { rows: page, problems } = await found(() => tokenPage(tokens.list(reader.organizationId), values));
    const last = page && lastPageAddress(reader, page);
    return last === undefined ? tokensPage({ values, page, problems }) : seeOther(last);
  };

  const create = async ({ actor }: Reader, input: TokenInput) => {
    try {
      const made = await tokens.create(actor, newTokenOf(input));
      const now = tokens.checkRevoke(actor, made.view.id); // a repeated form gets the view of its first response
      return now.state === "revoked"
        ? revokedTokenPage(now)
        : createdTokenPage({ ...made, scimUrl: scimUrl() });
    } catch (error) {
      const refused = refusalOf(error);
      if (!refused) throw error;
      return newTokenPage({ ...input, ...(refused.isSpent && { once: crypto.randomUUID() }) }, refused);
    }
  };

  router
    .get(
      IDENTITY_PATH,
      ({ request }) =>
        console.show(request, "administrator", async (reader) =>
          identityPage(await identityFacts(context, reader.organizationId, scimUrl())),
        ),
      pageRoute("showIdentityPage", "Sign-in and provisioning"),
    )
    .get(
      TOKENS_PATH,
      ({ request }) => console.show(request, "administrator", listPage),
      pageRoute("showScimTokensPage", "The tokens of identity providers"),
    )
    .get(
      NEW_TOKEN_PATH,
      ({ request }) =>
        console.show(request, "administrator", (reader) =>
          newTokenPage({ ...listValues(reader), once: crypto.randomUUID() }),
        ),
      pageRoute("showNewScimTokenPage", "The form for a token"),
    )
    .post(
      NEW_TOKEN_PATH,
      ({ request, body: { label, profile, expires, once, ...body } }) => {
        const entered = { label, profile, expires: expires || undefined };
        const input = { ...entered, once: once || crypto.randomUUID() };
        const action = { needs: "administrator", back: formPath(entered) } as const;
        return console.act(request, { ...body, ...input }, action, (reader) => create(reader, input));
      },
      formRoute(TokenForm, formOperation("sendScimToken", "Creates a token and shows it once")),
    );
  tokenRevocationPages(context, console);
}

function tokenRevocationPages({ router, domain }: RouteContext, console: Console) {
  const { tokens } = domain.scim;

  return router
    .get(
      REVOKE_ROUTE,
      ({ request, params }) =>
        console.show(request, "administrator", ({ actor }) =>
          revokeTokenPage(tokens.checkRevoke(actor, params.id)),
        ),
      { ...pageRoute("showScimTokenRevocation", "Asks before a token is revoked"), params: TokenPath },
    )
    .post(
      REVOKE_ROUTE,
      ({ request, body, params }) =>
        console.act(request, body, { needs: "administrator", back: TOKENS_PATH }, async ({ actor }) => {
          const { changed, token } = await tokens.revoke(actor, params.id);
          const notice = changed ? `Revoked ${token.label}.` : `${token.label} was revoked earlier.`;
          return { to: TOKENS_PATH, notice };
        }),
      {
        ...formRoute(
          formOf({ csrf: FormField, by: FormField }),
          formOperation("sendScimTokenRevocation", "Revokes a token"),
        ),
        params: TokenPath,
      },
    );
}

/** @returns the page of tokens for the address. The list is short, so it is paged in memory. */
function tokenPage(all: readonly ScimTokenView[], values: Values): Page<ScimTokenView> {
  const problems: Problem[] = [];
  const show = readWord(values.show, { name: "show", words: [ALL_TOKENS], problems });
  const request = readPageQuery(placeIn(values), problems);
  refuseProblems("scim_token.invalid", problems);
  const shown = show === ALL_TOKENS ? all : all.filter(({ state }) => state !== "revoked");
  const first = offsetOf(request);
  return { ...request, total: shown.length, items: shown.slice(first, first + request.perPage) };
}

/** @returns the address of the form with the entered values, for a reader who must confirm first */
const formPath = (input: Omit<TokenInput, "once">): string => {
  const given = Object.entries(input).filter((entry): entry is [string, string] => Boolean(entry[1]));
  return pathWith(NEW_TOKEN_PATH, new URLSearchParams(given));
};

const newTokenOf = ({ label = "", profile = SCIM_PROFILES[0], expires, once }: TokenInput) => ({
  label,
  profile,
  expiresAfterDays: expires === undefined ? undefined : (numberIn(expires) ?? 0),
  idempotencyKey: once,
});

/** The form was sent before with other values, for example after a step back in the browser. */
const FORM_SPENT: TokenRefusal = {
  problems: [
    {
      pointer: "",
      detail:
        "this form has already created a token with other values. To create another token with the values below, send it again",
    },
  ],
  status: 409,
  isSpent: true,
};

/** Only a program can send such a form. */
const FORM_DAMAGED: TokenRefusal = {
  problems: [{ pointer: "", detail: "the form arrived damaged. Check the values below and send it again" }],
  status: 400,
  isSpent: true,
};

/** @returns the problems of the form's fields; undefined if the refusal concerns no field */
function refusalOf(error: unknown): TokenRefusal | undefined {
  if (!(error instanceof DomainError)) return undefined;
  const { reason, message, hint, problems } = error;
  if (reason === "scim_token.invalid") return { problems, status: 400 };
  if (reason === "idempotency.key_reused") return FORM_SPENT;
  if (reason === "idempotency.key_invalid") return FORM_DAMAGED;
  if (reason !== "scim_token.label_taken") return undefined;
  return { problems: [{ pointer: "/label", detail: `${message}; ${hint}` }], status: 409 };
}

async function identityFacts(
  { domain }: RouteContext,
  organizationId: string,
  scimUrl: string,
): Promise<IdentityFacts> {
  const { sso, scim, identity } = domain;
  const settings = sso.settings();
  const counts = await runInTurns(identity.users.countsInSteps(organizationId));
  const count = (source: string, wanted: string): number =>
    counts.find(({ provisioningSource, status }) => provisioningSource === source && status === wanted)
      ?.total ?? 0;
  return {
    mode: identity.identityStatus(scim.tokens.hasActive()).auth_mode,
    oidc: sso.status(),
    settings,
    registration: sso.registration(),
    scimUrl,
    scim: scim.status(organizationId),
    mappings: [
      ...mappingsOf("scim.group_role_mappings", Object.entries(scim.settings.groupRoleMappings)),
      ...mappingsOf("identity.oidc.group_role_mappings", [...(settings?.groupRoleMappings ?? [])]),
    ],
    sources: PROVISIONING_SOURCES.map((source) => ({
      source,
      active: count(source, "active"),
      suspended: count(source, "suspended"),
    })),
  };
}

const mappingsOf = (setting: string, mappings: readonly (readonly [string, Role])[]): Mapping[] =>
  mappings.map(([group, role]) => ({ group, role, setting }));
