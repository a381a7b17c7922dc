// Pages for setting a password with a link. The identity area validates links.
import { Secret } from "../../../platform/secret.ts";
import type { Browser } from "../../auth/browser.ts";
import { formOperation, pageOperation } from "../../pages/html.ts";
import { passwordLinkUnavailablePage, passwordSetPage, setPasswordPage } from "../../pages/set-password.tsx";
import type { RouteContext } from "../../router.ts";
import { passwordLinkPages } from "./password-link-pages.ts";

export function setPasswordPages(context: RouteContext, browser: Browser) {
  const { passwordLinks } = context.domain.identity;
  return passwordLinkPages(context, browser, {
    path: "/set-password",
    unavailableReason: "password_link.unavailable",
    unavailablePage: passwordLinkUnavailablePage,
    formPage: (form) =>
      setPasswordPage({ ...form, email: passwordLinks.getUser(new Secret(form.token)).email }),
    donePage: passwordSetPage,
    use: (given) => passwordLinks.setPassword(given),
    operations: {
      show: pageOperation("showSetPasswordPage", "Asks the holder of a password link for a password"),
      send: formOperation("setPassword", "Sets the password of the user of a password link"),
      done: pageOperation("showPasswordSet", "Redirects to the sign-in page"),
    },
  });
}
