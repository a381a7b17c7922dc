// An identity provider's traces on a data directory: its last request, and what it has provisioned. The same directory may
// be in use by a running server.

import { addProvisionedGroup, addProvisionedUser } from "../content/provisioned-rows.ts";
import { type DataInUse, inInstallation } from "./installed-login.ts";

/** Presents the token of the configuration, which stands in that file, as a request would. */
export const presentOn = (place: DataInUse, file: string, token: string): Promise<void> =>
  inInstallation(
    place,
    async ({ domain }) => {
      domain.scim.tokens.authenticate(token);
    },
    { scimTokenFile: file },
  );

/** Leaves two users, one of them suspended, two groups, one of them empty, and a refused request. */
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
