// A user of the example organization at a browser: signs in with a password, and approves device logins.
import { ISSUER_PATH } from "../../domain/access/wire.ts";
import type { Secret } from "../../platform/secret.ts";
import { type DemoHttp, expectSuccess } from "./http.ts";

export class DemoUser {
  /** the session cookie; shared by the approvals of all workstations of the user */
  #cookie: Promise<string> | undefined;

  constructor(
    readonly email: string,
    private readonly dependencies: { http: DemoHttp; password: Secret },
  ) {}

  /**
   * Opens the link that a workstation shows, and approves.
   * @param link verification_uri_complete
   * @throws Error if the service refuses the user or the link
   * @source RFC 8628 section 3.3.1
   */
  async approve(link: string): Promise<void> {
    this.#cookie ??= this.#signIn();
    try {
      const headers = { cookie: await this.#cookie, "content-type": "application/json" };
      const path = `/api/device/${new URL(link).pathname.split("/").at(-1)}`;
      await expectSuccess(await this.dependencies.http.send(path, { headers }));
      const body = JSON.stringify({ action: "approve" });
      await expectSuccess(await this.dependencies.http.send(path, { method: "POST", headers, body }));
    } catch (error) {
      this.#cookie = undefined; // the next approval signs in again
      throw error;
    }
  }

  async #signIn(): Promise<string> {
    const { http, password } = this.dependencies;
    const response = await http.send(`${ISSUER_PATH}/sign-in/email`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: this.email, password: password.reveal() }),
    });
    const cookies = (await expectSuccess(response)).headers.getSetCookie();
    return cookies.map((cookie) => cookie.split(";", 1)[0]).join("; ");
  }
}
