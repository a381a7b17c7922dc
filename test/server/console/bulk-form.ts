// Opens and sends the form that asks before many rows of a list change.
import type { TestServer } from "../../support/server.ts";

/** @param path of the form, such as `/console/users/action` */
export const bulkForm = (site: Pick<TestServer, "request">, path: string, owner: { cookie: string }) => ({
  question: async (query: string, reader = owner.cookie) =>
    shownBy(await site.request("GET", `${path}?${query}`, { cookie: reader })),
  /** Sends the form of the shown page, with some fields changed. */
  send: async (html: string, changes: Record<string, string> = {}, reader = owner.cookie) => {
    const form = html.slice(html.indexOf(`action="${path}"`));
    const hidden = [...form.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name = "", value = ""]) => [
      name,
      value.replaceAll("&amp;", "&"),
    ]);
    const body = new URLSearchParams({ ...Object.fromEntries(hidden), ...changes }).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    return shownBy(await site.request("POST", path, { cookie: reader, headers, body }));
  },
});

async function shownBy(answer: Response) {
  return { status: answer.status, location: answer.headers.get("location"), html: await answer.text() };
}
