// Sharing a captured session in the console. Before the owner shares it with more people, a page shows how many strings
// look like keys.
import type { Domain } from "../../../../domain/domain.ts";
import { notOwnSession } from "../../../../domain/sessions/errors.ts";
import { RECIPIENTS_MAX } from "../../../../domain/sessions/limits.ts";
import type { SessionView } from "../../../../domain/sessions/service.ts";
import { DomainError, type Problem } from "../../../../platform/errors.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import { ProblemList, quoted } from "../../../../platform/text/problem-list.ts";
import type { Console } from "../../../console/console.ts";
import type { ConsolePage } from "../../../console/frame/frame.tsx";
import type { Fields } from "../../../console/frame/kept-fields.tsx";
import { found } from "../../../console/list/list.ts";
import type { Reader } from "../../../console/reader.ts";
import {
  type ScanOutcome,
  type ShareForm,
  sharePage,
  shareQuestion,
} from "../../../console/sessions/share-pages.tsx";
import { actingViewer } from "../../../console/sessions/viewers.ts";
import { actionPath, peopleText, SESSIONS_PATH, sessionPath } from "../../../console/sessions/words.ts";
import { recordTag } from "../../../http/conditional.ts";
import { FormField, formOf, formOperation, formRoute, pageRoute } from "../../../pages/html.ts";
import { asSentence } from "../../../pages/words.ts";
import type { RouteContext } from "../../../router.ts";

const Form = formOf({
  csrf: FormField,
  by: FormField,
  mode: FormField,
  people: FormField,
  person: FormField,
  act: FormField,
  add: FormField,
  confirmed: FormField,
  version: FormField,
});

/** @returns the version of a session's sharing, for its form */
const versionOf = (sharing: { mode: string; userIds: readonly string[] }): string =>
  recordTag({ mode: sharing.mode, userIds: sharing.userIds });

/** @returns the action of the form */
function createShareForms(domain: Domain) {
  const { sharing, facets } = domain.sessions;

  /** @throws DomainError `sessions.not_own` unless the reader is the owner */
  const ownSession = async (reader: Reader, id: string): Promise<SessionView> => {
    const viewer = actingViewer(reader);
    const { session } = await runInTurns(domain.sessions.detail(viewer, id));
    if (session.userId !== viewer.userId) throw notOwnSession();
    return session;
  };

  const emptyForm = async (reader: Reader, session: SessionView): Promise<ShareForm> => {
    const isSelected = session.sharingMode === "selected";
    const { recipients } = isSelected
      ? await runInTurns(sharing.show(actingViewer(reader), session.id))
      : { recipients: [] };
    const userIds = recipients.map(({ id }) => id).sort();
    return {
      version: versionOf({ mode: session.sharingMode, userIds }),
      mode: session.sharingMode,
      people: recipients.map(({ email }) => email).join("\n"),
      person: "",
    };
  };

  /** A complete address is added immediately. */
  const findPeople = async (reader: Reader, session: SessionView, form: ShareForm): Promise<ConsolePage> => {
    const { rows, problems = [] } = await found(() =>
      runInTurns(facets.members(actingViewer(reader), form.person)),
    );
    const matches = (rows ?? []).map(({ email }) => email);
    const exact = matches.find((email) => email.toLowerCase() === form.person.trim().toLowerCase());
    if (exact !== undefined) return sharePage({ session, form: withPerson(form, exact) });
    return sharePage({ session, form, matches, problems });
  };

  return { ownSession, emptyForm, findPeople, share: createShare(domain, emptyForm) };
}

/** @returns a function that shares a session, or asks first if more people would find it */
function createShare(
  domain: Domain,
  storedForm: (reader: Reader, session: SessionView) => Promise<ShareForm>,
) {
  const { sharing, transcripts } = domain.sessions;

  /** @returns the form with the entered values, beside the stored ones and the author of their change */
  const changedPage = async (reader: Reader, id: string, form: ShareForm): Promise<ConsolePage> => {
    const { session } = await runInTurns(domain.sessions.detail(actingViewer(reader), id));
    const stored = await storedForm(reader, session);
    const wanted = { action: "captured_session.share", target: session.id, limit: 1 };
    const [change] = domain.auditLog.listByKey(reader.organizationId, wanted).items;
    return sharePage({ session, form: { ...form, version: stored.version }, changed: { stored, change } });
  };

  const scan = async (reader: Reader, id: string): Promise<ScanOutcome> => {
    try {
      return { scan: await transcripts.scan(reader.actor, actingViewer(reader), id) };
    } catch (error) {
      if (error instanceof DomainError) return { refusal: asSentence(error.message) };
      throw error;
    }
  };

  return async (reader: Reader, session: SessionView, form: ShareForm, isConfirmed: boolean) => {
    const viewer = actingViewer(reader);
    const isSelected = form.mode === "selected";
    const named = isSelected ? idsIn(domain, reader, form.people) : { ids: [], problems: [] };
    const request = { mode: form.mode, ...(isSelected && { user_ids: named.ids }) };
    const wanted = { id: session.id, request };
    const { rows: plan, problems = [] } = await found(() => {
      return named.problems.length > 0 ? undefined : sharing.plan(viewer, wanted);
    }, named.problems);
    if (!plan) return sharePage({ session, form, problems });
    const { userIds } = plan.wanted;
    const expect = expectationOf(form);
    try {
      if (!plan.isSame) expect(plan.before);
      if (plan.isWider && !isConfirmed)
        return shareQuestion({ session, form, userIds, outcome: await scan(reader, session.id) });
      await sharing.replace(reader.actor, viewer, { ...wanted, expect });
    } catch (error) {
      if (!(error instanceof SharingChanged)) throw error;
      return await changedPage(reader, session.id, form);
    }
    return { to: sessionPath(session.id), notice: noticeOf(form.mode, userIds.length) };
  };
}

class SharingChanged extends DomainError {
  constructor() {
    super("conflict", "sessions.sharing_changed", "the sharing was changed after the page was opened");
  }
}

/** The button that ends all sharing has no version, because it ends any state of sharing. */
const expectationOf =
  ({ version, mode }: ShareForm) =>
  (before: { mode: string; userIds: readonly string[] }): void => {
    if (version === "" && mode === "private") return;
    if (versionOf(before) !== version) throw new SharingChanged();
  };

export function sharePages({ router, domain }: RouteContext, console: Console) {
  const { ownSession, emptyForm, findPeople, share } = createShareForms(domain);

  return router
    .get(
      `${SESSIONS_PATH}/:id/share`,
      ({ request, params }) =>
        console.show(request, "anyone", async (reader) => {
          const session = await ownSession(reader, params.id);
          return sharePage({ session, form: await emptyForm(reader, session) });
        }),
      pageRoute("showSessionSharing", "The form for sharing a captured session"),
    )
    .post(
      `${SESSIONS_PATH}/:id/share`,
      ({ request, params, body }) => {
        const back = actionPath(params.id, "share");
        return console.act(request, body, { needs: "anyone", back }, async (reader) => {
          const session = await ownSession(reader, params.id);
          const form = formIn(body);
          if (body.add !== undefined) return sharePage({ session, form: withPerson(form, body.add) });
          if (body.act === "find") return await findPeople(reader, session, form);
          return await share(reader, session, form, body.confirmed === "1");
        });
      },
      formRoute(Form, formOperation("sendSessionSharing", "Shares a captured session, or ends its sharing")),
    );
}

const formIn = ({ version = "", mode = "", people = "", person = "" }: Fields): ShareForm => ({
  version,
  mode,
  people,
  person,
});

/** @returns the form with one more address, after a person was chosen by name */
function withPerson({ version, people }: ShareForm, email: string): ShareForm {
  return { version, mode: "selected", people: addressesIn(`${people}\n${email}`).join("\n"), person: "" };
}

/** @returns the addresses without duplicates, regardless of letter case */
const addressesIn = (text: string): string[] => [
  ...new Map(
    text
      .split(/[\s,;]+/)
      .filter(Boolean)
      .map((address) => [address.toLowerCase(), address]),
  ).values(),
];

/** One more than the limit of recipients, because the owner's own address does not count. */
export const ADDRESSES_MAX = RECIPIENTS_MAX + 1;

/** @returns the ids of the addresses, or the problems with them */
function idsIn(
  { identity }: Domain,
  { organizationId }: Reader,
  people: string,
): { ids: string[]; problems: readonly Problem[] } {
  const addresses = addressesIn(people);
  const problems = new ProblemList();
  if (addresses.length > ADDRESSES_MAX)
    problems.add("/user_ids", `at most ${RECIPIENTS_MAX} people can be named, not ${addresses.length}`);
  const ids = addresses.slice(0, ADDRESSES_MAX).flatMap((address, at) => {
    const user = address.includes("@") ? identity.users.findByAddress(organizationId, address) : undefined;
    if (user?.status === "active") return [user.id];
    problems.add(`/user_ids/${at}`, `no active user has the address ${quoted(address)}`);
    return [];
  });
  return { ids, problems: problems.list() };
}

function noticeOf(mode: string, people: number): string {
  if (mode === "private") return "The session is shared with nobody now.";
  return mode === "workspace"
    ? "The session is shared with everybody in the organization."
    : `The session is shared with ${peopleText(people)}.`;
}
