// Parts of every step of adding a package: the list of steps, and the way to stop.
/** @jsxImportSource preact */
import { type ComponentChildren, Fragment } from "preact";
import type { Addition } from "../../../../domain/governance/additions/addition-model.ts";
import { isHarnessKey } from "../../../../domain/harnesses/harnesses.ts";
import { DomainError, type Problem } from "../../../../platform/errors.ts";
import { failureOf } from "../../../http/problems/problem.ts";
import { Hidden } from "../../../pages/forms.tsx";
import { asSentence } from "../../../pages/words.ts";
import type { ConsolePage } from "../../frame/frame.tsx";
import { HARNESSES_PATH } from "../../harnesses/harness-list.tsx";
import { harnessText } from "../../own/words.ts";
import { ConsoleForm } from "../../parts/form.tsx";
import { Text, useReader } from "../../parts/values.tsx";
import { NEW_BREADCRUMBS, NEW_PACKAGE_PATH, STEPS, type Step } from "./words.ts";

const ORDER: readonly Step[] = ["source", "inspection", "identity", "layout", "audience", "check"];

/** @returns the first unfinished step */
export function nextStep(addition: Addition | undefined): Step {
  if (!addition) return "source";
  if (!addition.identity) return "identity";
  if (!addition.adapters) return "layout";
  return addition.audience ? "check" : "audience";
}

/** @returns whether the step can be opened: all before it are done */
export const isOpen = (step: Step, addition: Addition | undefined): boolean =>
  ORDER.indexOf(step) <= ORDER.indexOf(nextStep(addition));

export interface StepPage extends Pick<ConsolePage, "longText"> {
  step: Step;
  title: string;
  addition: Addition | undefined;
  content: ComponentChildren;
  refused?: RefusedStep | undefined;
}

/** Why the step was not saved. */
export interface RefusedStep {
  message: string;
  /** with pointers into what was entered */
  problems: readonly Problem[];
  status?: number;
}

/** @returns a refusal by the domain, with its remedy */
export function refusedStep(error: DomainError): RefusedStep {
  const { message, hint, problems } = error;
  const first = problems.length > 0 ? "Nothing is saved yet." : message;
  return {
    message: [first, ...(hint === undefined ? [] : [hint])].map(asSentence).join(" "),
    problems,
    status: failureOf(error)?.status ?? 400,
  };
}

/** @returns a refusal that the reader can fix on the page of the step @throws everything else */
export function refusedStepOf(error: unknown): RefusedStep {
  if (error instanceof DomainError && ["invalid", "conflict"].includes(error.kind)) return refusedStep(error);
  throw error;
}

type TextOf = (pointer: string) => string | undefined;

/**
 * @param hrefOf address of the control with the problem, or of the step that solves it
 * @param labelOf the label of that control, for problems that do not name it
 */
export function stepPage(page: StepPage, hrefOf: TextOf, labelOf: TextOf = () => undefined): ConsolePage {
  const { step, title, addition, content, refused, longText } = page;
  return {
    title,
    breadcrumbs: NEW_BREADCRUMBS,
    isError: refused !== undefined,
    status: refused?.status ?? 200,
    ...(longText && { longText }),
    content: (
      <>
        <Steps step={step} addition={addition} />
        {refused && <Refused {...refused} hrefOf={hrefOf} labelOf={labelOf} />}
        {content}
        {addition && <Stop />}
      </>
    ),
  };
}

const Steps = ({ step, addition }: Pick<StepPage, "step" | "addition">) => (
  <nav aria-label="Steps" class="steps">
    <ol>
      {ORDER.map((name) => {
        const { path, label } = STEPS[name];
        if (name === step) return <li aria-current="step">{label}</li>;
        return (
          <li>{isOpen(name, addition) ? <a href={path}>{label}</a> : <span class="muted">{label}</span>}</li>
        );
      })}
    </ol>
  </nav>
);

const Refused = ({
  message,
  problems,
  hrefOf,
  labelOf,
}: RefusedStep & { hrefOf: TextOf; labelOf: TextOf }) => (
  <div class="error-summary" role="alert" tabIndex={-1} autofocus>
    <p>
      <Text value={message} />
    </p>
    {problems.length > 0 && (
      <ul>
        {problems.map(({ pointer, detail, line }) => {
          const href = hrefOf(pointer);
          const label = labelOf(pointer);
          const isNamed = label !== undefined && detail.startsWith(label);
          const parts = [
            isNamed ? undefined : label,
            line === undefined ? undefined : `line ${line}`,
            detail,
          ];
          const text = <Text value={parts.filter((part) => part !== undefined).join(": ")} />;
          return (
            <li key={pointer + detail}>
              {href === undefined ? text : <a href={href}>{text}</a>}
              <RangeLinks detail={detail} />
            </li>
          );
        })}
      </ul>
    )}
  </div>
);

const RANGE = /\bharnesses\.([a-z]+)\.version_requirement\b/g;

/** Links to the forms for the ranges that a problem names. They open in a new tab, so the entered values stay here. */
const RangeLinks = ({ detail }: { detail: string }) =>
  [...detail.matchAll(RANGE)]
    .flatMap(([, key = ""]) => (isHarnessKey(key) ? [key] : []))
    .map((key) => (
      <Fragment key={key}>
        {" "}
        <a href={`${HARNESSES_PATH}/${key}`} target="_blank" rel="noopener">
          Set the versions of {harnessText(key)}
        </a>
      </Fragment>
    ));

/** The finished steps are kept until the draft has the package or until somebody presses this. */
function Stop() {
  const { mayAdminister } = useReader();
  if (!mayAdminister) return null;
  return (
    <ConsoleForm action={NEW_PACKAGE_PATH} class="apart">
      <Hidden name="act" value="stop" />
      <p class="hint">What you entered stays here until you finish, even if you leave.</p>
      <button class="button" type="submit">
        Stop adding this package
      </button>
    </ConsoleForm>
  );
}
