// Second factors below the account: the list, setting up and removing, and recovery codes. The domain refuses a change
// in a browser without a recent confirmation; factor-confirmation-pages.ts then asks for one and returns.
import type { FactorsView } from "../../../domain/access/second-factor/second-factors.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import { Secret } from "../../../platform/secret.ts";
import type { Browser, Visitor } from "../../auth/browser.ts";
import { readOwnPath } from "../../auth/own-path.ts";
import type { Failure } from "../../http/problems/problem.ts";
import { ACCOUNT_PATH } from "../../pages/account/account-view.ts";
import {
  FormField,
  formFailure,
  formOf,
  formOperation,
  formRoute,
  page,
  pageOperation,
  seeOther,
} from "../../pages/html.ts";
import { factorsPage } from "../../pages/second-factor/factors.tsx";
import { appSetupPage, passkeySetupPage, recoveryCodesPage } from "../../pages/second-factor/setup.tsx";
import type { RouteContext } from "../../router.ts";
import {
  createForVisitor,
  FACTORS,
  leadingTo,
  needsConfirmation,
  type sessionOf,
} from "./factor-confirmation-pages.ts";

const APP = `${FACTORS}/authenticator-app`;
const NEW_PASSKEY = `${FACTORS}/passkeys/new`;

const FactorsQuery = formOf({ done: FormField, next: FormField });
const SetupQuery = formOf({ next: FormField });
const AppForm = formOf({ csrf: FormField, next: FormField, setup: FormField, code: FormField });
const PasskeyForm = formOf({ csrf: FormField, next: FormField, name: FormField, answer: FormField });
const PlainForm = formOf({ csrf: FormField });

/** Confirmation texts by the keyword in the redirect's query. */
const NOTICES = {
  added: "Your second factor is set up.",
  removed: "It was removed.",
} as const;

const noticeOf = (word: string | undefined): string | undefined =>
  Object.entries(NOTICES).find(([done]) => done === word)?.[1];

/** Adds the pages of second factors below the account. */
export function factorPages(context: RouteContext, browser: Browser): void {
  factorListPages(context, browser);
  appSetupPages(context, browser);
  passkeySetupPages(context, browser);
}

const rowOf = ({ createdAtMs, usedAtMs }: { createdAtMs: number; usedAtMs: number | null }) => ({
  createdAt: toRfc3339(createdAtMs),
  usedAt: usedAtMs === null ? null : toRfc3339(usedAtMs),
});

const shownFactors = ({ authenticatorApp, passkeys, recoveryCodes, isRequired }: FactorsView) => ({
  app: authenticatorApp && rowOf(authenticatorApp),
  passkeys: passkeys.map((passkey) => ({ ...rowOf(passkey), id: passkey.id, name: passkey.name })),
  recoveryCodes,
  isRequired,
});

function factorListPages({ router, domain }: RouteContext, browser: Browser) {
  const { ownFactors, factors } = domain.access;
  const forVisitor = createForVisitor(browser);
  const removing = (request: Request, csrf: string | undefined, remove: RemoveFactor) =>
    forVisitor(request, FACTORS, async (visitor, session) => {
      browser.checkForm(request, csrf, visitor);
      await remove(session);
      return seeOther(`${FACTORS}?done=removed`);
    });
  type RemoveFactor = (session: ReturnType<typeof sessionOf>) => Promise<void>;

  return router
    .get(
      FACTORS,
      ({ request, query }) =>
        forVisitor(request, leadingTo(FACTORS, readOwnPath(query.next)), ({ csrf }, { actor }) => {
          const view = ownFactors.view(actor);
          if (!view) return seeOther(ACCOUNT_PATH);
          const offersPasskeys = factors.offersPasskeys();
          const shown = { csrf, notice: noticeOf(query.done), offersPasskeys, branding: browser.branding() };
          const next = readOwnPath(query.next);
          const paths = { app: leadingTo(APP, next), newPasskey: leadingTo(NEW_PASSKEY, next) };
          return page(factorsPage({ ...shownFactors(view), ...shown, paths }));
        }),
      {
        requires: "nobody",
        query: FactorsQuery,
        detail: pageOperation("showSecondFactors", "Passkeys, authenticator app and recovery codes"),
      },
    )
    .post(
      `${APP}/remove`,
      ({ request, body }) => removing(request, body.csrf, (session) => ownFactors.removeApp(session)),
      formRoute(PlainForm, formOperation("sendRemoveApp", "Removes the authenticator app")),
    )
    .post(
      `${FACTORS}/passkeys/:id/remove`,
      ({ request, params, body }) =>
        removing(request, body.csrf, (session) => ownFactors.removePasskey(session, params.id)),
      formRoute(PlainForm, formOperation("sendRemovePasskey", "Removes a passkey")),
    )
    .post(
      `${FACTORS}/recovery-codes`,
      ({ request, body }) =>
        forVisitor(request, FACTORS, async (visitor, session) => {
          browser.checkForm(request, body.csrf, visitor);
          const codes = (await ownFactors.renewRecoveryCodes(session)).map((code) => code.reveal());
          return page(recoveryCodesPage({ codes, next: FACTORS, branding: browser.branding() }));
        }),
      formRoute(
        PlainForm,
        pageOperation("sendNewRecoveryCodes", "Replaces the recovery codes and shows the new ones once"),
      ),
    );
}

function appSetupPages({ router, domain }: RouteContext, browser: Browser) {
  const { ownFactors } = domain.access;
  const forVisitor = createForVisitor(browser);

  const show = (
    visitor: Visitor,
    session: ReturnType<typeof sessionOf>,
    { setup, next, failure }: { setup?: string | undefined; next: string | undefined; failure?: Failure },
  ): Response => {
    const { secret, uri, sealed } =
      setup === undefined ? ownFactors.startApp(session) : ownFactors.resumeApp(session, setup);
    const texts = { secret: secret.reveal(), uri: uri.reveal(), sealed, error: failure?.message };
    const places = { action: APP, back: leadingTo(FACTORS, next), next, csrf: visitor.csrf };
    return page(appSetupPage({ ...places, ...texts, branding: browser.branding() }), { failure });
  };

  return router
    .get(
      APP,
      ({ request, query }) => {
        const next = readOwnPath(query.next);
        return forVisitor(request, leadingTo(APP, next), (visitor, session) =>
          show(visitor, session, { next }),
        );
      },
      {
        requires: "nobody",
        query: SetupQuery,
        detail: pageOperation("showAppSetup", "Shows the QR code of an authenticator app"),
      },
    )
    .post(
      APP,
      ({ request, body }) => {
        const next = readOwnPath(body.next);
        return forVisitor(request, leadingTo(APP, next), async (visitor, session) => {
          browser.checkForm(request, body.csrf, visitor);
          const { setup = "", code = "" } = body;
          try {
            const added = await ownFactors.addApp(session, { sealed: setup, code: new Secret(code) });
            return afterAdding(added, { browser, next });
          } catch (error) {
            if (needsConfirmation(error)) throw error;
            const failure = formFailure(error, request);
            const kept = failure.reason === "second_factor.code_wrong" ? setup : undefined;
            return show(visitor, session, { setup: kept, next, failure });
          }
        });
      },
      formRoute(AppForm, formOperation("sendAppSetup", "Adds or replaces the authenticator app")),
    );
}

const afterAdding = (
  { recoveryCodes }: { recoveryCodes: readonly Secret[] },
  { browser, next = `${FACTORS}?done=added` }: { browser: Browser; next: string | undefined },
): Response => {
  if (recoveryCodes.length === 0) return seeOther(next);
  const codes = recoveryCodes.map((code) => code.reveal());
  return page(recoveryCodesPage({ codes, next, branding: browser.branding() }));
};

function passkeySetupPages({ router, domain }: RouteContext, browser: Browser) {
  const { ownFactors } = domain.access;
  const forVisitor = createForVisitor(browser);

  const show = async (
    visitor: Visitor,
    session: ReturnType<typeof sessionOf>,
    { next, failure }: { next: string | undefined; failure?: Failure },
  ): Promise<Response> => {
    const options = await ownFactors.startPasskey(session);
    const places = { action: NEW_PASSKEY, back: leadingTo(FACTORS, next), next, csrf: visitor.csrf };
    const shown = { ...places, options, error: failure?.message, branding: browser.branding() };
    return page(passkeySetupPage(shown), { failure, isScripted: true });
  };

  return router
    .get(
      NEW_PASSKEY,
      ({ request, query }) => {
        const next = readOwnPath(query.next);
        return forVisitor(request, leadingTo(NEW_PASSKEY, next), (visitor, session) =>
          show(visitor, session, { next }),
        );
      },
      {
        requires: "nobody",
        query: SetupQuery,
        detail: pageOperation("showPasskeySetup", "Asks the browser for a new passkey"),
      },
    )
    .post(
      NEW_PASSKEY,
      ({ request, body }) => {
        const next = readOwnPath(body.next);
        return forVisitor(request, leadingTo(NEW_PASSKEY, next), async (visitor, session) => {
          browser.checkForm(request, body.csrf, visitor);
          const { name = "", answer = "" } = body;
          try {
            return afterAdding(await ownFactors.addPasskey(session, { name, answer }), { browser, next });
          } catch (error) {
            if (needsConfirmation(error)) throw error;
            return await show(visitor, session, { next, failure: formFailure(error, request) });
          }
        });
      },
      formRoute(PasskeyForm, formOperation("sendPasskeySetup", "Adds a passkey")),
    );
}
