// Answers console pages and forms: identifies the reader, checks permission to change things, renders the frame, and turns
// refusals into pages. Routes of the console pass their work to `show` and `act`, and make none of these decisions themselves.
import { setImmediate } from "node:timers/promises";
import { isAuditor } from "../../domain/console/service.ts";
import type { Browser, Visitor } from "../auth/browser.ts";
import type { UploadTimes } from "../http/bodies/streamed-body.ts";
import { openStreamedForm, type StreamedForm } from "../http/bodies/streamed-form.ts";
import { actorOf, exchangeOf, noteRefusal, principalOf } from "../http/exchange.ts";
import { failureOf, HttpError } from "../http/problems/problem.ts";
import { formFailure, seeOther, signInPath } from "../pages/html.ts";
import type { RouteContext } from "../router.ts";
import { needsConfirmation } from "../routes/pages/factor-confirmation-pages.ts";
import { type Chrome, type ConsolePage, renderConsole } from "./frame/frame.tsx";
import { type Fields, OWNER_FIELD } from "./frame/kept-fields.tsx";
import { type Feature, type NavigationGroup, type Needs, navigationFor } from "./frame/navigation.ts";
import { type Notice, noticeCookie, noticeOf, shownNoticeCookie } from "./frame/notice.ts";
import { failedPage, forbiddenPage, staleFormPage, tooLongPage, unconfirmedPage } from "./frame/refusals.tsx";
import { htmlResponse } from "./html-response.ts";
import { hasProblems, listOfRefusedFile } from "./list/address-problems.ts";
import { readLongForm } from "./long-form.ts";
import { languageOf, type Reader, themeOf, timeZoneOf } from "./reader.ts";
import { createSignInAgain } from "./sign-in-again.ts";
import { staleness } from "./stale-form.ts";
import { createTargetPage } from "./system/target-page.ts";

/** The action is done: the browser is redirected to a page that shows the message. */
export interface Done {
  to: string;
  notice?: string | Notice;
  cookies?: readonly string[];
}

type Answer = ConsolePage | Response;
type Outcome = Done | Answer | Promise<Done | Answer>;
type Work<More extends unknown[] = []> = (reader: Reader, ...more: More) => Outcome;

interface Action {
  needs: Needs;
  /** address of the page that the form belongs to */
  back: string;
  /** the form changes nothing, so auditors may send it too */
  isQuestion?: boolean;
  /** names of fields with secret values; a page sends back only the names, to show that values were entered */
  heldBack?: RegExp;
}

interface FileAction extends Omit<Action, "isQuestion"> {
  bytesMax: number;
  times: UploadTimes | undefined;
  /** the page for a file of more bytes */
  tooLarge(reader: Reader): ConsolePage;
}

/** Functions for routes of the console. */
export interface Console {
  /** Answers a page. A reader who is not signed in goes to the sign-in page and returns to the same address. */
  show(request: Request, needs: Needs, work: Work): Promise<Response>;
  /** Answers a form, after its CSRF token. A refusal by the domain becomes a page; the work may catch it to show its form again. */
  act(request: Request, fields: Fields, action: Action, work: Work): Promise<Response>;
  /** Like `act`, for a form with a long text, which is read after its sender is authenticated (long-form.ts). */
  actLong(request: Request, action: Action, work: Work<[fields: Fields]>): Promise<Response>;
  /** Like `act`, for a form with a large file, which is read after its sender is authenticated (streamed-form.ts). */
  actFile(request: Request, action: FileAction, work: Work<[form: StreamedForm]>): Promise<Response>;
  /** @returns the page for somebody whose session has ended; an uploaded file is read only without it */
  expired(request: Request, action: Action): Response | undefined;
  has(feature: Feature): boolean;
  /** @returns the addresses of the navigation, for links to pages that some installations do not have */
  pagesOf(reader: Reader): ReadonlySet<string>;
  /** @returns the groups of the navigation that the reader has */
  navigationOf(reader: Reader): readonly NavigationGroup[];
}

/** @returns the functions that all routes of the console share */
export function createConsole(context: RouteContext, browser: Browser): Console {
  const frame = createFrame(context, browser);
  const { has, readerOf, answer, finish, forbid, refuse, signInAgain } = frame;

  const console: Console = {
    has,

    expired: (request, action) =>
      browser.visitor(request) ? undefined : signInAgain.ask({ ...action, request }),

    async actLong(request, action, work) {
      const visitor = browser.visitor(request);
      const reader = visitor && readerOf(request, visitor);
      const isAllowed = reader !== undefined && mayChange(reader, action.needs);
      if (isAllowed) exchangeOf(request).isAdmitted = true;
      const fields = await readLongForm(request, isAllowed);
      if (fields) return await console.act(request, fields, action, (actor) => work(actor, fields));
      if (!reader) return signInAgain.ask({ ...action, request });
      return isAllowed ? answer(reader, tooLongPage(action.back)) : forbid(reader, "change");
    },

    actFile: (...args) => createFileAction(browser, frame)(console.act, ...args),

    navigationOf: ({ readsAll }) => navigationFor(readsAll, has),

    pagesOf: ({ readsAll }) =>
      new Set(navigationFor(readsAll, has).flatMap(({ links }) => links.map(({ href }) => href))),

    async show(request, needs, work) {
      const visitor = browser.visitor(request);
      if (!visitor) {
        const { pathname, search } = new URL(request.url);
        return seeOther(signInPath(pathname + search));
      }
      const reader = readerOf(request, visitor);
      if (!mayOpen(reader, needs)) return forbid(reader, "read");
      try {
        const list = listOfRefusedFile(reader.url);
        if (list !== undefined) return seeOther(list);
        return finish(reader, needs, await setImmediate(await work(reader))); // other requests run before it is rendered
      } catch (error) {
        return refuse(reader, error);
      }
    },

    act: createAct(browser, frame),
  };
  return console;
}

const mayOpen = ({ readsAll }: Reader, needs: Needs): boolean => needs === "anyone" || readsAll;
const mayChange = ({ mayAdminister }: Reader, needs: Needs): boolean => needs === "anyone" || mayAdminister;

/** @returns `act` */
const createAct =
  (browser: Browser, { readerOf, answer, forbid, finish, refuse, signInAgain }: Frame): Console["act"] =>
  async (request, fields, { needs, back, isQuestion = false, heldBack }, work) => {
    const form = { path: new URL(request.url).pathname, back, fields, heldBack };
    const present = browser.visitor(request);
    const signedIn = present
      ? { visitor: present, cookies: [] }
      : await signInAgain.take({ ...form, request });
    if (signedIn instanceof Response) return signedIn;
    const { visitor, cookies } = signedIn;
    const reader = readerOf(request, visitor);
    const isOwn = browser.isOwnForm(fields[OWNER_FIELD], visitor);
    const result = async (): Promise<Response> => {
      if (!mayOpen(reader, needs)) return forbid(reader, "read");
      if (!isQuestion && !mayChange(reader, needs)) return forbid(reader, "change");
      const stale = present ? staleness(() => browser.checkForm(request, fields.csrf, visitor)) : !isOwn;
      if (stale) {
        noteRefusal(request, { reason: "form.stale" });
        return answer(reader, staleFormPage({ ...form, reader, isOwn }));
      }
      try {
        return finish(reader, needs, await setImmediate(await work(reader))); // as in `show`
      } catch (error) {
        if (needsConfirmation(error)) return answer(reader, unconfirmedPage({ ...form, reader }));
        return refuse(reader, error, back);
      }
    };
    const response = await result();
    for (const cookie of cookies) response.headers.append("set-cookie", cookie);
    return response;
  };

/** @returns `actFile`, which hands the fields of the form to `act` */
const createFileAction =
  (browser: Browser, { readerOf, answer, forbid, signInAgain }: Frame) =>
  async (
    act: Console["act"],
    ...[request, { bytesMax, times, tooLarge, ...action }, work]: Parameters<Console["actFile"]>
  ): Promise<Response> => {
    const visitor = browser.visitor(request);
    if (!visitor) return signInAgain.ask({ ...action, request });
    const reader = readerOf(request, visitor);
    if (!reader.mayAdminister) return forbid(reader, "change");
    const form = await openForm(request, { bytesMax, times });
    if (!form) return answer(reader, tooLarge(reader));
    exchangeOf(request).isAdmitted = true;
    try {
      return await act(request, form.fields, action, (actor) => work(actor, form));
    } finally {
      await form.end();
    }
  };

/** @returns undefined for a form that declares too many bytes */
async function openForm(
  request: Request,
  limits: Parameters<typeof openStreamedForm>[1],
): Promise<StreamedForm | undefined> {
  try {
    return await openStreamedForm(request, limits);
  } catch (error) {
    if (error instanceof HttpError && error.status === 413) return undefined;
    throw error;
  }
}

/** @returns a function that makes the reader of a request */
function createReaderOf(context: RouteContext) {
  const { domain, clock, baseUrl } = context;
  return (request: Request, visitor: Visitor): Reader => {
    const { organizationId, role, userId } = visitor.principal;
    const audits = isAuditor(context.consoleAuditors?.() ?? [], visitor.principal);
    const readsAll = role === "admin" || audits;
    return {
      request,
      url: new URL(request.url),
      origin: baseUrl(),
      visitor,
      actor: actorOf(request),
      organizationId,
      readsAll,
      mayAdminister: role === "admin" && !audits,
      csrf: visitor.csrf,
      nowMs: clock.nowMs(),
      zone: timeZoneOf(request),
      theme: themeOf(request),
      language: languageOf(request),
      savedViews: () => [
        ...domain.preferences.of(userId).views,
        ...(readsAll ? domain.preferences.sharedByOthers(organizationId, userId) : []),
      ],
      usual: (path) => domain.preferences.usualOf(userId, path),
      policyState: () => ({
        draftSavedAtMs: domain.governance.drafts.summaryOf(actorOf(request))?.savedAtMs,
        revision: domain.governance.revisions.current(organizationId),
      }),
      targetPage: createTargetPage(domain, { userId, organizationId, isAdministrator: readsAll }),
    };
  };
}

type Frame = ReturnType<typeof createFrame>;

/** @returns functions that make a reader of a request, and a response of a page */
function createFrame(context: RouteContext, browser: Browser) {
  const { domain, baseUrl, clock, overview } = context;
  const readerOf = createReaderOf(context);

  const has = (feature: Feature): boolean =>
    feature === "gateway" ? domain.gateway.mode !== undefined : true;

  const chromeOf = ({ actor, readsAll, mayAdminister, organizationId }: Reader): Chrome => {
    const current = readsAll ? domain.governance.revisions.current(organizationId) : undefined;
    return {
      branding: browser.branding(),
      navigation: navigationFor(readsAll, has),
      revision: current && { sequence: current.sequence, id: current.id },
      draft: mayAdminister ? domain.governance.drafts.summaryOf(actor) : undefined,
      problems: readsAll ? overview.knownProblems(organizationId) : undefined,
    };
  };

  /** Relative times count from the rendering, because the work of the page may have taken seconds. */
  const answer = (asking: Reader, found: Answer): Response => {
    if (found instanceof Response) return found;
    const isWrong = (found.status ?? 200) === 200 && hasProblems(asking.url);
    const page = isWrong ? { ...found, status: 400, isError: true } : found;
    const reader = { ...asking, nowMs: clock.nowMs() };
    const notice = noticeOf(reader.request, baseUrl());
    const chrome = chromeOf(reader);
    const html = renderConsole(page, { reader, chrome, notice });
    const cookies = [...(page.cookies ?? []), ...(notice ? [shownNoticeCookie(baseUrl())] : [])];
    const { logoUrl, faviconUrl } = chrome.branding;
    return htmlResponse(reader.request, html, { ...page, cookies, images: [logoUrl, faviconUrl] });
  };

  /** The same refusal of a role as in the guard of the API, for the log. */
  const forbid = (reader: Reader, refused: "read" | "change"): Response => {
    noteRefusal(reader.request, { reason: "access.role_missing" });
    return answer(reader, forbiddenPage(refused));
  };

  /** @returns the page, or a redirect to the page that shows the message; a question only for readers who may send its form */
  const finish = (reader: Reader, needs: Needs, done: Done | Answer): Response => {
    const isQuestion = "isQuestion" in done && done.isQuestion;
    if (isQuestion && !mayChange(reader, needs)) return forbid(reader, "change");
    if (!("to" in done)) return answer(reader, done);
    const notice =
      typeof done.notice === "string" ? { kind: "done" as const, text: done.notice } : done.notice;
    return seeOther(done.to, [...(done.cookies ?? []), ...(notice ? [noticeCookie(notice, baseUrl())] : [])]);
  };

  /** @returns the page of a refusal; unexpected errors are left to the server, which logs them */
  const refuse = (reader: Reader, error: unknown, back?: string): Response => {
    const failure = failureOf(error);
    if (!failure || failure.status >= 500) throw error;
    const { requestId } = exchangeOf(reader.request);
    const path = reader.url.pathname;
    const page = failedPage(formFailure(error, reader.request), { requestId, back, path });
    const response = answer(reader, page);
    if (failure.status === 429)
      for (const [name, value] of Object.entries(failure.headers)) response.headers.set(name, value);
    return response;
  };

  const signInAgain = createSignInAgain(context, browser);
  return { has, readerOf, answer, forbid, finish, refuse, signInAgain };
}

/** @returns the caller of a console page, for domain functions that need the whole principal */
export const readerPrincipal = ({ request }: Reader) => principalOf(request);
