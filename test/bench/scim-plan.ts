// What the sides of scim.ts have to agree on: the token, how much there is, and what a user looks like.
import { CORE_GROUP, CORE_USER, SCIM_BASE_PATH } from "../../src/domain/scim/wire.ts";

export const TOKEN = "a-token-for-the-benchmark-of-provisioning";

/** header of a request whose page the peer's own handler takes */
export const TAKES_PAGE = "X-Takes-Page";

/** Users of the peer, and of the smaller of our two sides. */
export const FEW_USERS = 10_000;
export const MANY_USERS = 100_000;
export const PAGE = 100;

export const userNameAt = (at: number): string => `user-${String(at).padStart(6, "0")}@example.com`;

/** @returns the user as an identity provider sends it */
export const userAt = (at: number) => ({
  schemas: [CORE_USER],
  externalId: `00u${at.toString(36).padStart(12, "0")}`,
  userName: userNameAt(at),
  name: { formatted: `Ada Lovelace ${at}`, givenName: "Ada", familyName: `Lovelace ${at}` },
  displayName: `Ada Lovelace ${at}`,
  title: "Engineer",
  locale: "en-GB",
  emails: [{ value: userNameAt(at), type: "work", primary: true }],
  active: true,
});

/** @returns the group as an identity provider sends it, when it has no members yet */
export const groupNamed = (displayName: string) => ({ schemas: [CORE_GROUP], displayName });

/** @returns path and query of a look-up */
export const queryPath = (endpoint: string, query: Readonly<Record<string, string>>): string =>
  `${SCIM_BASE_PATH}${endpoint}?${new URLSearchParams(query).toString().replaceAll("+", "%20")}`;
