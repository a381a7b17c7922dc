// The filter form of a list, and the active filters as chips. Each chip is a link that removes its filter.
/** @jsxImportSource preact */

import { PAGE_SIZES } from "../../../domain/console/service.ts";
import { SEARCH_LENGTH_MAX } from "../../../domain/shared/page.ts";
import type { Problem } from "../../../platform/errors.ts";
import { visibleText } from "../parts/texts.ts";
import { Text, useReader } from "../parts/values.tsx";
import { addressWith, fromStart } from "./address.ts";
import { ALL_FILTERS, type Filter, hasAllFilters, type Values } from "./list.ts";
import { shownProblem } from "./problem-text.ts";

interface FilterFormProps {
  filters: readonly Filter[];
  values: Values;
  problems: readonly Problem[];
}

/** Parameters that stay when the filters change. */
const KEPT = ["sort", "columns", "per_page", ALL_FILTERS.name];

/** A form with method GET, so the address of its response contains the filters. */
export function FilterForm({ filters, values, problems }: FilterFormProps) {
  const { url, usual } = useReader();
  if (filters.length === 0) return null;
  const isKept = usual(url.pathname) !== undefined;
  const isWhole = hasAllFilters(values);
  const isShown = ({ name, isOptional }: Filter) => !isOptional || isWhole || values[name] !== undefined;
  return (
    <>
      <search aria-label="Filters">
        <form class="filters" action={url.pathname} data-swap>
          {KEPT.map((name) =>
            values[name] === undefined || name === "per_page" ? null : (
              <input key={name} type="hidden" name={name} value={values[name]} />
            ),
          )}
          {filters.filter(isShown).map((filter) => (
            <Control
              key={filter.name}
              filter={filter}
              filters={filters}
              value={values[filter.name]}
              problem={problems.find(({ pointer }) => pointer === `/${filter.name}`)}
            />
          ))}
          <div class="filter">
            <label for="filter-per_page">Rows</label>
            <select id="filter-per_page" name="per_page">
              {PAGE_SIZES.map((size) => (
                <option
                  key={size}
                  value={size === PAGE_SIZES[0] && !isKept ? "" : size}
                  selected={values.per_page === String(size)}
                >
                  {size}
                </option>
              ))}
            </select>
          </div>
          <button class="button" type="submit">
            Apply
          </button>
          {filters.some(({ isOptional }) => isOptional) && (
            <a
              class="more"
              href={addressWith(url, { [ALL_FILTERS.name]: isWhole ? undefined : ALL_FILTERS.value })}
            >
              {isWhole ? "Fewer filters" : "More filters"}
            </a>
          )}
        </form>
      </search>
      <Chips filters={filters} values={values} />
    </>
  );
}

function Control({
  filter,
  filters,
  value = "",
  problem,
}: {
  filter: Filter;
  /** of the list; the problem of one filter may name another */
  filters: readonly Filter[];
  value: string | undefined;
  problem: Problem | undefined;
}) {
  const { zone, visitor, url } = useReader();
  const isAdministrator = visitor.principal.role === "admin";
  const { name, label, kind, choices = [], hint = kind === "date" ? `Day in ${zone}` : undefined } = filter;
  const id = `filter-${name}`;
  const described = [hint && `${id}-hint`, problem && `${id}-error`].filter(Boolean).join(" ") || undefined;
  const shared = { id, name, "aria-describedby": described, "aria-invalid": problem && true };
  return (
    <div class={`filter ${kind}`}>
      <label for={id}>{label}</label>
      {kind === "choice" ? (
        <select {...shared}>
          <option value="">Any</option>
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value} selected={choice.value === value}>
              {choice.label}
            </option>
          ))}
          {value !== "" && choices.every((choice) => choice.value !== value) && (
            <option value={value} selected>
              {visibleText(value)}
            </option>
          )}
        </select>
      ) : (
        <input
          {...shared}
          {...(kind === "person" && proposing(`${id}-found`, isAdministrator))}
          type="search"
          value={value}
          maxLength={SEARCH_LENGTH_MAX}
          placeholder={kind === "date" ? "YYYY-MM-DD" : undefined}
          autocomplete="off"
        />
      )}
      {kind === "person" && <datalist id={`${id}-found`} />}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem && (
        <p class="field-error" id={`${id}-error`}>
          {shownProblem(problem, { filters, url }).text}
        </p>
      )}
    </div>
  );
}

/**
 * Attributes for the script (browser/people.ts), which fills the list while an address is typed.
 * @param isAdministrator whether the API suggests all users to the reader; auditors get the same suggestions as members
 */
const proposing = (list: string, isAdministrator: boolean) => ({
  list,
  "data-people": list,
  ...(isAdministrator && { "data-people-from": "users" }),
});

function Chips({ filters, values }: Omit<FilterFormProps, "problems">) {
  const { url } = useReader();
  const active = filters.flatMap(({ name, label, choices }) => {
    const value = values[name];
    if (value === undefined) return [];
    const text = choices?.find((choice) => choice.value === value)?.label ?? value;
    return [{ name, label, text }];
  });
  if (active.length === 0) return null;
  return (
    <ul class="chips" aria-label="Active filters">
      {active.map(({ name, label, text }) => (
        <li key={name}>
          <a class="chip" href={fromStart(url, { [name]: undefined })}>
            <span class="visually-hidden">Remove filter </span>
            {label}: <Text value={text} /> <span aria-hidden="true">×</span>
          </a>
        </li>
      ))}
      <li>
        <a href={url.pathname}>Clear all</a>
      </li>
    </ul>
  );
}

interface FilterProblemsProps {
  title?: string;
  problems: readonly Problem[];
  /** of the list; other forms name their fields in the problems */
  filters?: readonly Filter[];
}

/** Lists the invalid values of the address, each with a link to its field or to the list without it. */
export function FilterProblems({ title, problems, filters = [] }: FilterProblemsProps) {
  const { url } = useReader();
  const shown = problems.map((problem) => shownProblem(problem, { filters, url }));
  return (
    <div class="error-summary" role="alert" tabIndex={-1} autofocus>
      {title !== undefined && <h2>{title}</h2>}
      <ul>
        {shown.map(({ text, href }) => (
          <li key={text}>
            <a href={href}>{text}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}
