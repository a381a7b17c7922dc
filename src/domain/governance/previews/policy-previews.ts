// Previews a policy change without a draft: the problems of a text, and a whole document in its published form.
import type { Problem } from "../../../platform/errors.ts";
import { runInTurns } from "../../../platform/steps.ts";
import type { Actor } from "../../shared/actor.ts";
import { artifactProblems } from "../delivery/artifacts.ts";
import { carryOverAudiences } from "../delivery/audiences.ts";
import type { TextName } from "../drafts/draft-model.ts";
import type { Drafts } from "../drafts/drafts.ts";
import { Edits } from "../drafts/edits.ts";
import { refuseProblems } from "../errors.ts";
import type { Revision } from "../model.ts";
import type { GovernanceParts } from "../parts.ts";
import { documentText, parseInTurn } from "../publishing/validated.ts";

export class PolicyPreviews {
  readonly #edits: Edits;

  constructor(
    private readonly parts: GovernanceParts,
    private readonly drafts: Drafts,
  ) {
    this.#edits = new Edits(parts);
  }

  /**
   * @param part `policy`, or a harness; then the text has its settings, and the draft has the rest
   * @returns every problem, with lines, that the text would have in the draft; saves nothing
   * @throws DomainError `governance.unknown_harness`
   */
  async check(actor: Actor, text: string, part: TextName): Promise<readonly Problem[]> {
    const draft = this.drafts.ownOrNew(actor);
    return part === "policy"
      ? await this.#edits.policyProblems(actor, draft, text)
      : await this.#edits.settingsProblems(actor, draft, part, text);
  }

  /**
   * @param input a whole document; its audiences are those of the current policy
   * @returns the policy in its published form
   * @throws DomainError `governance.invalid`
   */
  async document(actor: Actor, input: object): Promise<Pick<Revision, "document" | "audiences">> {
    const { catalog, publisher, revisions, runTask } = this.parts;
    const current = revisions.inForce(actor.organizationId);
    const frame = publisher.frame({ gateway: publisher.hasGateway(actor, current) });
    const request = { input: JSON.stringify(input), base: await documentText(current), frame };
    const { problems, references, document: text } = await runTask("wholeDocument", request);
    const archives = await runInTurns(artifactProblems(catalog, actor.organizationId, references));
    refuseProblems([...problems, ...archives]);
    const document = await parseInTurn(text);
    return { document, audiences: carryOverAudiences(current.audiences, document.packages) };
  }
}
