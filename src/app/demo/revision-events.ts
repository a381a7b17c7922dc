// Reads the event stream of policy revisions: `event: revision` with the id as JSON, and comments that keep the connection open.
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const Announcement = Type.Object({ revision: Type.String() });
const DATA = /^data: (.*)$/m;

/**
 * @returns the ids of the revisions as they are announced; ends with the stream, or when the time limit of the request is over
 * @throws an error of TypeBox for another event
 */
export async function* revisionsIn(response: Response): AsyncGenerator<string> {
  if (!response.body) return;
  const decoder = new TextDecoder();
  let waiting = "";
  try {
    for await (const chunk of response.body) {
      const events = `${waiting}${decoder.decode(chunk, { stream: true })}`.split("\n\n");
      waiting = events.pop() ?? "";
      for (const event of events) {
        const data = DATA.exec(event)?.[1];
        if (data === undefined) continue; // a comment
        const announcement: unknown = JSON.parse(data);
        Value.Assert(Announcement, announcement);
        yield announcement.revision;
      }
    }
  } catch (error) {
    if (!(error instanceof DOMException && error.name === "TimeoutError")) throw error;
  }
}
