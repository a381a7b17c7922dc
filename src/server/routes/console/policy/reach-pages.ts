// The file with everybody who gains or loses a package through a draft. The review shows only the first ones.
import type { User } from "../../../../domain/identity/service.ts";
import { PER_PAGE_MAX, readWord, refuseProblems } from "../../../../domain/shared/page.ts";
import type { Problem } from "../../../../platform/errors.ts";
import { runInTurns } from "../../../../platform/steps.ts";
import type { Console } from "../../../console/console.ts";
import { csvRoute } from "../../../console/list/csv.ts";
import { type Column, listValues, type Values } from "../../../console/list/list.ts";
import { PEOPLE_CSV_PATH } from "../../../console/policy/words.ts";
import type { Reader } from "../../../console/reader.ts";
import type { RouteContext } from "../../../router.ts";
import { exportResponse } from "../lists/list-export.ts";

const COLUMNS: readonly Column<User>[] = [
  { name: "email", label: "Address", cell: ({ email }) => email, csv: ({ email }) => email },
  { name: "id", label: "Id", cell: ({ id }) => id, csv: ({ id }) => id },
];
const SIDES = ["gaining", "losing"] as const;

export const reachPages = ({ router, domain }: RouteContext, console: Console) =>
  router.get(
    PEOPLE_CSV_PATH,
    ({ request }) =>
      console.show(request, "administrator", async (reader) =>
        exportResponse(domain, reader, {
          list: "policy-people",
          columns: COLUMNS,
          pages: await peoplePages(domain, reader, questionIn(listValues(reader))),
        }),
      ),
    csvRoute("downloadPolicyPeople", "People who gain or lose a package through a draft, as a CSV file"),
  );

interface Question {
  draft: string;
  packageId: string;
  side: (typeof SIDES)[number];
}

/** @throws DomainError `policy.invalid` */
function questionIn({ draft, package: packageId, change }: Values): Question {
  const problems: Problem[] = [];
  const side = readWord(change, { name: "change", words: SIDES, problems }) ?? "gaining";
  if (draft === undefined)
    problems.push({ pointer: "/draft", detail: "the parameter draft is required: the id of a draft" });
  if (packageId === undefined)
    problems.push({ pointer: "/package", detail: "the parameter package is required: the id of a package" });
  refuseProblems("policy.invalid", problems);
  return { draft: draft ?? "", packageId: packageId ?? "", side };
}

async function peoplePages(
  { clients, governance, identity }: RouteContext["domain"],
  { actor, organizationId }: Reader,
  { draft, packageId, side }: Question,
): Promise<Iterable<User[]> | AsyncIterable<User[]>> {
  const change = {
    before: governance.revisions.inForce(organizationId),
    after: governance.drafts.show(actor, draft),
  };
  const people = await runInTurns(clients.peopleOf(change, { packageId, side }));
  if ("users" in people) return [[...people.users]];
  const { everybodyBut } = people;
  return (async function* () {
    const query = { status: "active", perPage: PER_PAGE_MAX, known: 0 };
    let after: User | undefined;
    do {
      const { items } = await runInTurns(identity.users.listInSteps(organizationId, { ...query, after }));
      after = items.at(-1);
      yield items.filter(({ id }) => !everybodyBut.has(id));
    } while (after);
  })();
}
