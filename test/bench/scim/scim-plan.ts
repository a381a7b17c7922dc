// Shared facts of the sides of scim.ts: the token, the number of resources, and the form of a user.
import {
  CORE_GROUP,
  CORE_USER,
  ENDPOINTS,
  ENTERPRISE_USER,
  SCIM_BASE_PATH,
} from "../../../src/domain/scim/wire.ts";

export const TOKEN = "a-token-for-the-benchmark-of-provisioning";

/** header of a request whose page the handler of the reference selects itself */
export const TAKES_PAGE = "X-Takes-Page";

/** Users of the reference, and of the smaller of the two services. */
export const FEW_USERS = 10_000;
export const MANY_USERS = 100_000;
export const PAGE = 100;

export const userNameAt = (at: number): string => `user-${String(at).padStart(6, "0")}@example.com`;

export const groupNameAt = (at: number): string => `Group ${String(at).padStart(5, "0")}`;

/** @returns the user as Entra ID sends it with its default attribute mappings; managers are sent afterwards */
export const userAt = (at: number) => ({
  schemas: [CORE_USER, ENTERPRISE_USER],
  externalId: `ada.lovelace.${at}`,
  userName: userNameAt(at),
  name: { formatted: `Ada Lovelace ${at}`, givenName: "Ada", familyName: `Lovelace ${at}` },
  displayName: `Ada Lovelace ${at}`,
  title: "Engineer",
  preferredLanguage: "en-GB",
  emails: [{ value: userNameAt(at), type: "work", primary: true }],
  addresses: [
    {
      type: "work",
      formatted: "Building 7",
      streetAddress: "12 St James's Square",
      locality: "London",
      region: "Greater London",
      postalCode: "SW1Y 4JH",
      country: "United Kingdom",
    },
  ],
  phoneNumbers: [
    { type: "work", value: "+44 20 7946 0018" },
    { type: "mobile", value: "+44 7700 900018" },
    { type: "fax", value: "+44 20 7946 0019" },
  ],
  active: true,
  [ENTERPRISE_USER]: { employeeNumber: String(at), department: "Analytical Engines" },
});

/** @returns the group as Okta sends it before it has members */
export const groupNamed = (displayName: string) => ({ schemas: [CORE_GROUP], displayName });

/** @returns path and query of a list */
export const queryPath = (endpoint: string, query: Readonly<Record<string, string>>): string =>
  `${SCIM_BASE_PATH}${endpoint}?${new URLSearchParams(query).toString().replaceAll("+", "%20")}`;

/** @returns path and query of a lookup as Entra ID and Okta send it */
export const lookupPath = (userName: string): string =>
  queryPath(ENDPOINTS.User, { filter: `userName eq "${userName}"` });
