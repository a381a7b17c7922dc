// `sso verify --claims`: applies the sign-in rules to the claims of a person, and prints which account the person would use and
// why. A refusal is a response, so the exit code is 0. Sends no request and changes nothing.
import { resolve } from "node:path";
import type { Preview } from "../../../src/domain/sso/service.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { readFile } from "../../../src/platform/files/operator-files.ts";
import { isJsonObject, type JsonObject } from "../../../src/platform/json/json-object.ts";
import { ProblemList } from "../../../src/platform/text/problem-list.ts";
import { readYamlText } from "../../../src/platform/text/yaml-text.ts";
import type { Context } from "../../context.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { withFileContext } from "../../exit.ts";
import { detailsText } from "../../output/details.ts";

const BOUNDS = { bytesMax: 256 * 1024, tokensMax: 20_000, hidesText: true };
/** JWS compact serialization (RFC 7515 section 7.1) */
const TOKEN = /^\s*[\w-]+\.[\w-]+\.[\w-]*\s*$/;

/** @throws DomainError `file.*`; `file.too_large` beyond `bytesMax` bytes */
async function readDocument(context: Context, path: string, bytesMax: number): Promise<Uint8Array> {
  if (path !== "-") return await readFile(resolve(context.cwd, path), bytesMax);
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const part of context.stdin) {
    sizeBytes += part.length;
    if (sizeBytes > bytesMax)
      throw new DomainError("invalid", "file.too_large", `standard input is longer than ${bytesMax} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** @throws DomainError `sso.not_configured`, `sso.claims_unreadable`, `file.*` */
export async function previewClaims({ domain, context, output }: Call, file: string): Promise<void> {
  const bytes = await readDocument(context, file, BOUNDS.bytesMax);
  const claims = await withFileContext(file === "-" ? "stdin" : file, () => claimsIn(bytes));
  const preview = domain.sso.preview(claims);
  for (const warning of preview.warnings) output.warning(warning);
  output.result(documentOf(preview), textOf(preview));
}

/** @throws DomainError `sso.claims_unreadable` with line numbers and without any of the text */
function claimsIn(bytes: Uint8Array): JsonObject {
  const text = Buffer.from(bytes).toString("utf8");
  if (TOKEN.test(text))
    throw unreadable([
      { pointer: "", detail: "is a token; paste its claims, the decoded middle part", line: 1 },
    ]);
  const problems = new ProblemList();
  const { content } = readYamlText(bytes, problems, BOUNDS);
  if (problems.count > 0) throw unreadable(problems.list());
  if (isJsonObject(content) && /^\ufeff?\s*\{/.test(text)) return content;
  throw unreadable([{ pointer: "", detail: "must be a JSON object, from { to }", line: 1 }]);
}

const unreadable = (problems: ReturnType<ProblemList["list"]>): DomainError =>
  new DomainError("invalid", "sso.claims_unreadable", "the claims cannot be read", {
    problems,
    hint: 'write one JSON object, such as {"sub": "00u1a2b3", "email": "ana@example.org", "email_verified": true}',
  });

const DECISIONS: Readonly<Record<Preview["decision"]["kind"], string>> = {
  sign_in: "signs in",
  link: "is linked, and signs in",
  accept_invitation: "accepts the invitation, and signs in",
  prove_password: "must enter the password of the account once, is then linked, and signs in",
  create: "gets a new account, and signs in",
  refuse: "is refused",
};

/** The origin that the new link will record; null if no link is made. */
const LINKED_BY: Readonly<Record<Preview["decision"]["kind"], string | null>> = {
  sign_in: null,
  link: null,
  accept_invitation: "invitation",
  prove_password: "password",
  create: "sign_up",
  refuse: null,
};

const linkedBy = ({ decision }: Preview): string | null =>
  decision.kind === "link" ? decision.linkedBy : LINKED_BY[decision.kind];

/** The account that exists before the sign-in. */
const userIn = ({ decision }: Preview) => ("user" in decision ? decision.user : undefined);

const emailIn = (preview: Preview): string | undefined =>
  "email" in preview.decision ? preview.decision.email : userIn(preview)?.email;

const reasonIn = ({ decision }: Preview): string | null =>
  decision.kind === "refuse" ? decision.error.reason : null;

function documentOf(preview: Preview): object {
  const { person, decision, role, keepsRole, why, isForeign } = preview;
  const user = userIn(preview);
  return {
    decision: decision.kind,
    reason: reasonIn(preview),
    why,
    user: user
      ? {
          id: user.id,
          email: user.email,
          role: user.role,
          status: user.status,
          source: user.provisioningSource,
        }
      : null,
    email: emailIn(preview) ?? null,
    role: role ?? null,
    keeps_role: keepsRole,
    linked_by: linkedBy(preview),
    issuer: person?.issuer ?? null,
    issuer_is_configured: !isForeign,
    subject: person?.subject ?? null,
    groups: person && "known" in person.groups ? person.groups.known : null,
    groups_unknown: person && "unknown" in person.groups ? person.groups.unknown : null,
  };
}

function textOf(preview: Preview): string {
  const { person, decision, why } = preview;
  const reason = reasonIn(preview);
  return detailsText([
    ["decision", reason === null ? DECISIONS[decision.kind] : `${DECISIONS[decision.kind]}: ${reason}`],
    ["why", why],
    ["account", accountText(preview)],
    ["role", roleText(preview)],
    ["linked by", linkedBy(preview)],
    ["issuer", person?.issuer],
    ["subject", person?.subject],
    ["groups", person && groupsText(person)],
  ]);
}

function accountText(preview: Preview): string | undefined {
  const email = emailIn(preview);
  const user = userIn(preview);
  if (email === undefined) return undefined;
  return user ? `${email} (${user.provisioningSource}, ${user.status})` : `${email} (new)`;
}

function roleText(preview: Preview): string | undefined {
  const { role, keepsRole } = preview;
  const before = userIn(preview)?.role;
  if (keepsRole) return `${role}, in spite of the groups: protected, or the last administrator`;
  return role === undefined || before === undefined || before === role ? role : `${role}, now ${before}`;
}

const groupsText = ({ groups }: NonNullable<Preview["person"]>): string => {
  if ("unknown" in groups) return `unknown (${groups.unknown}): they change no role`;
  return groups.known.length === 0 ? "none" : groups.known.join(", ");
};
