// Requests of an administrator to a running service.
import type { RunningService } from "../../support/running-service.ts";

/** Sends a request. @returns the text of the answer @throws if it is no success */
export type Ask = (method: string, path: string, body?: object) => Promise<string>;

/** Signs in as the administrator of a new installation. */
export async function signedIn({ baseUrl, password }: RunningService): Promise<Ask> {
  const answer = await fetch(`${baseUrl}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ email: "admin@example.com", password: password() }),
  });
  const cookie = answer.headers.get("set-cookie")?.split(";")[0] ?? "";
  return async (method, path, body) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { cookie, origin: baseUrl, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} gave ${response.status}: ${text.slice(0, 500)}`);
    return text;
  };
}
