// Which source decides whether an address is verified: first the signed token; userinfo only for its own address.
import { expect, test } from "bun:test";
import { completedClaims } from "../../../../src/domain/sso/provider/client/userinfo.ts";

const EMAILS = [undefined, "ada@example.com", "eve@example.com"];
const VERIFIED = [undefined, false, true];
const sources = EMAILS.flatMap((email) => VERIFIED.map((email_verified) => ({ email, email_verified })));
const OWN = { iss: "https://id.example.com", sub: "ada" };

test.each(sources)(
  "an address of a token %j is verified only by the token, or by userinfo for the same address",
  (token) => {
    for (const userinfo of sources) {
      const { email, email_verified } = completedClaims({ ...OWN, ...token }, { sub: OWN.sub, ...userinfo });
      const saying = [token, userinfo].filter((source) => source.email === email);
      const stated = saying.find((source) => source.email_verified !== undefined);
      expect({ userinfo, email, email_verified }).toEqual({
        userinfo,
        email: token.email ?? userinfo.email,
        email_verified: token.email === undefined ? userinfo.email_verified : stated?.email_verified,
      });
    }
  },
);
