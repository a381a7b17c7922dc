// Session uploads, which this version does not have: whoever tries is told, and the policy of a new installation asks for none.
import { expect, test } from "bun:test";
import { createTestServer } from "../support/server.ts";

test.each(["presign", "complete", "download"])(
  "USE-8 session uploads are off: %s is refused",
  async (step) => {
    await using face = await createTestServer();
    const { accessToken: token } = await face.signedIn("member");
    const response = await face.request("POST", `/session-uploads/${step}`, { token, body: {} });
    expect([response.status, (await response.json()).reason]).toEqual([404, "request.unknown_path"]);
  },
);
