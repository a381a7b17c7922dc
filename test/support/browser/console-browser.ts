// A browser without a window, signed in to the console of a test server.
import { ADDRESS, type Caller, type TestServer } from "../server.ts";
import { FormBrowser } from "./form-browser.ts";

/** @returns the browser of a caller, who is already signed in */
export function consoleBrowser({ server }: TestServer, { cookie }: Pick<Caller, "cookie">): FormBrowser {
  const browser = new FormBrowser("http://localhost", (request) => server.handle(request, () => ADDRESS));
  const { name, value } = Bun.Cookie.parse(cookie);
  browser.cookies.set(name, value);
  return browser;
}
