// Requests of a soak: a response is read completely, and a server error ends the step with an error.
import { connect } from "node:net";
import type { Site, Workstation } from "../site.ts";

export const bearer = ({ accessToken }: Workstation) => ({ authorization: `Bearer ${accessToken}` });

/** @returns the response with its body read @throws for a server error */
export async function visit(
  { baseUrl }: Pick<Site, "baseUrl">,
  path: string,
  init: RequestInit = {},
): Promise<{ status: number; body: string }> {
  const response = await fetch(path.startsWith("/") ? baseUrl + path : path, { redirect: "manual", ...init });
  const body = await response.text();
  if (response.status >= 500)
    throw new Error(`${path} was answered ${response.status}: ${body.slice(0, 300)}`);
  return { status: response.status, body };
}

/** @returns the JSON of a success @throws for another response */
export async function succeed(
  site: Pick<Site, "baseUrl">,
  path: string,
  init: RequestInit,
): Promise<Record<string, string>> {
  const { status, body } = await visit(site, path, init);
  if (status >= 200 && status < 300) return body === "" ? {} : JSON.parse(body);
  throw new Error(`${init.method} ${path} was answered ${status}: ${body.slice(0, 300)}`);
}

/** Sends bytes and disconnects. */
export async function sendRaw({ port }: Pick<Site, "port">, bytes: string): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  const closed = Promise.withResolvers<void>();
  socket.on("close", closed.resolve);
  socket.on("error", () => {}); // it is closed, too
  socket.resume();
  socket.end(bytes);
  await closed.promise;
}
