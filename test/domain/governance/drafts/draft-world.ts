// A server with a policy and two administrators who write drafts.
import { users } from "../../../../src/domain/identity/tables.ts";
import type { Actor } from "../../../../src/domain/shared/actor.ts";
import { createGovernanceWorld, type GovernanceWorld } from "../governance-world.ts";

export interface DraftWorld extends GovernanceWorld {
  ana: Actor;
  ben: Actor;
}

export async function createDraftWorld(
  options: Parameters<typeof createGovernanceWorld>[1] = {},
): Promise<DraftWorld> {
  const governed = await createGovernanceWorld(undefined, options);
  const { world } = governed;
  const { organizationId } = world;
  const actorFor = async (email: string): Promise<Actor> => {
    const id = world.ids.uuid();
    const times = { createdAtMs: 0, updatedAtMs: 0 };
    const row = { id, subject: id, organizationId, email, emailKey: email, ...times };
    await world.db.write((tx) =>
      tx
        .insert(users)
        .values({ ...row, role: "admin", status: "active" })
        .run(),
    );
    return { kind: "user", id, label: email, organizationId };
  };
  return Object.assign(governed, { ana: await actorFor("ana@x.org"), ben: await actorFor("ben@x.org") });
}
