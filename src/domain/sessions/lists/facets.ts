// Choices for filters and sharing: the owners and harnesses of visible sessions, and colleagues to share with.
import type { Problem } from "../../../platform/errors.ts";
import type { Steps } from "../../../platform/steps.ts";
import { type FacetQuery, readFacetQuery } from "../../shared/facet-users.ts";
import { readSearchText } from "../../shared/page.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { refuseRequest } from "../errors.ts";
import { MEMBERS_MAX } from "../limits.ts";
import type { Viewer } from "../model.ts";
import type { UserRef } from "../sharing/recipients.ts";
import { harnessesIn, ownsVisible } from "./count-store.ts";
import type { Scope } from "./list-query.ts";

export interface SessionFacets {
  users: UserRef[];
  harnesses: string[];
}

export class SessionFacetLists {
  constructor(private readonly dependencies: Pick<SessionsDependencies, "db" | "identity">) {}

  /**
   * @returns up to FACET_USERS_MAX owners of sessions that the viewer sees, the selected one first, and the harnesses of those
   *   sessions
   * @throws DomainError `sessions.invalid`
   */
  *facets(viewer: Viewer, query: FacetQuery): Steps<SessionFacets> {
    const problems: Problem[] = [];
    const wanted = { isAmong: ownsVisible(viewer), ...readFacetQuery(query, problems) };
    refuseRequest(problems);
    const users = yield* this.dependencies.identity.users.commonNames(viewer.organizationId, wanted);
    return {
      users: users.map(toUserRef),
      harnesses: harnessesIn(this.dependencies.db.read, scopeOf(viewer)),
    };
  }

  /**
   * @returns up to MEMBERS_MAX active colleagues whose address contains `q`, by address
   * @throws DomainError `sessions.invalid`
   */
  *members({ organizationId, userId }: Viewer, q: string | undefined): Steps<UserRef[]> {
    const problems: Problem[] = [];
    const wanted = { q: readSearchText(q, problems), of: userId, limit: MEMBERS_MAX };
    refuseRequest(problems);
    return (yield* this.dependencies.identity.users.colleagues(organizationId, wanted)).map(toUserRef);
  }
}

const scopeOf = ({ organizationId, userId, isAdministrator }: Viewer): Scope =>
  isAdministrator ? { kind: "organization", organizationId } : { kind: "visible", organizationId, userId };

const toUserRef = ({ id, email }: UserRef): UserRef => ({ id, email });
