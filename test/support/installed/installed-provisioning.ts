// The rows of an identity provider in a data directory: its last request, and its provisioned users and groups. A running server
// may use the same directory.

import { addProvisionedGroup, addProvisionedUser } from "../content/provisioned-rows.ts";
import { type DataInUse, inInstallation } from "./installed-login.ts";

/** Presents the configured token, which is in that file, like a request. */
export const presentOn = (place: DataInUse, file: string, token: string): Promise<void> =>
  inInstallation(
    place,
    async ({ domain }) => {
      domain.scim.tokens.check.authenticate(token);
    },
    { scimTokenFile: file },
  );

/** Creates two users, one of them suspended, two groups, one of them empty, and a refused request. */
export const provisionOn = (place: DataInUse): Promise<void> =>
  inInstallation(place, async ({ db, domain, organizationId }) => {
    const rows = { ...place, db, organizationId };
    const ana = await addProvisionedUser(rows, "ana@example.org");
    const bob = await addProvisionedUser(rows, "bob@example.org", { active: false });
    await addProvisionedGroup(rows, "Engineering", { externalId: "8f2c", members: [ana, bob] });
    await addProvisionedGroup(rows, "Design");
    domain.scim.refusals.keep(organizationId, {
      requestId: "01940000-0000-7000-8000-00000000abcd",
      actor: "scim:okta",
      method: "POST",
      route: "/scim/v2/Users",
      status: 409,
      scimType: "uniqueness",
      detail: "userName: another user has it; use that user, or another userName",
    });
  });
