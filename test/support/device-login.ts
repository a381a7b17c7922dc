// A workstation's device login over HTTP (RFC 8628), approved in the browser of a user with a password.
import { expect } from "bun:test";

export const CLIENT = "blue-cli";

export interface DeviceLogin {
  access_token: string;
  refresh_token: string;
}

/** Signs in, asks for a device code, approves it and redeems it. */
export async function deviceLogin(
  baseUrl: string,
  credentials: { email: string; password: string },
): Promise<DeviceLogin> {
  const form = (path: string, fields: Record<string, string>) =>
    fetch(baseUrl + path, { method: "POST", body: new URLSearchParams(fields) });
  const json = (path: string, body: object, cookie = "") =>
    fetch(baseUrl + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...(cookie && { cookie }) },
      body: JSON.stringify(body),
    });
  const signIn = await json("/api/auth/sign-in/email", credentials);
  const cookie = signIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const scope = "offline_access governance:read";
  const request = await (
    await form("/api/auth/device/code", { client_id: CLIENT, scope, resource: baseUrl })
  ).json();
  const link = new URL(request.verification_uri_complete).pathname;
  expect((await fetch(`${baseUrl}/api${link}`, { headers: { cookie } })).status).toBe(200);
  expect((await json(`/api${link}`, { action: "approve" }, cookie)).status).toBe(200);
  const tokens = await form("/api/auth/oauth2/token", {
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: request.device_code,
    client_id: CLIENT,
    resource: baseUrl,
  });
  expect(tokens.status).toBe(200);
  return await tokens.json();
}
