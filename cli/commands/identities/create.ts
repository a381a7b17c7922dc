// `identities create`: links one user, or prepares the users of a former provider. Checks that the options fit together.
import { DomainError } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { link } from "./change.ts";
import { move } from "./move.ts";

export async function create(call: Call): Promise<void> {
  const { args, text } = call;
  const isMove = text("fromIssuer") !== undefined;
  const needed = isMove ? { "--by": text("by") } : { user: args[0], "--subject": text("subject") };
  const refused = isMove ? { user: args[0] } : { "--to-issuer": text("toIssuer"), "--by": text("by") };
  for (const [name, value] of Object.entries(needed))
    if (value === undefined) throw wrongOptions(`${name} is missing`);
  for (const [name, value] of Object.entries(refused))
    if (value !== undefined) throw wrongOptions(`${name} cannot be combined with the other options`);
  await (isMove ? move(call) : link(call));
}

const wrongOptions = (message: string) =>
  new DomainError("invalid", "usage.identity_options", message, {
    hint: "to link one user: USER --subject SUBJECT; to prepare the users of a former provider: --from-issuer URL --by WAY",
  });
