// `organization show` and `organization rename`. The first start of the service creates the organization.

import { checkOrganizationName } from "../../../src/domain/identity/organization.ts";
import type { Organization } from "../../../src/domain/identity/service.ts";
import { invariant } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { isConfirmed } from "../../input/prompt.ts";

export async function show(call: Call): Promise<void> {
  const organization = find(call);
  call.output.result({ organization }, organization.name);
}

export async function rename(call: Call): Promise<void> {
  const { domain, actor, output, context, command, args } = call;
  const name = checkOrganizationName(args[0] ?? "");
  const { name: before } = find(call);
  if (name === before)
    return output.result(
      { changed: false, organization: find(call) },
      `unchanged: the organization is called ${before}`,
    );
  const plan = { action: `rename the organization ${before} to ${name}`, details: ["No login ends."] };
  if (!(await isConfirmed(context, command, plan))) return;
  await domain.identity.renameOrganization(actor, name);
  output.result({ changed: true, organization: find(call) }, `renamed the organization ${before} to ${name}`);
}

function find({ domain }: Call): Organization {
  const organization = domain.identity.organization();
  invariant(organization, "an existing installation has an organization");
  return organization;
}
