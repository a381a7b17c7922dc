// Curves of requests and of their latency as SVG, with the numbers as a table. They need neither a script nor inline styles.
/** @jsxImportSource preact */
import type { ComponentChildren } from "preact";
import type { SummaryView } from "../../../domain/inference/log/request-logs.ts";
import type { Bucket } from "../../../domain/inference/log/summary/model.ts";
import type { Figures } from "../../../domain/inference/log/summary/tally.ts";
import { addressWith } from "../list/address.ts";
import { TableHead } from "../parts/table-head.tsx";
import { dayText, exactTime, numberText } from "../parts/texts.ts";
import { useReader } from "../parts/values.tsx";

/** Height of a curve in its own units. */
const HEIGHT = 100;

/** Rows of the table of numbers, unless the reader opens all: 400 rows would be longer than the rest of the page. */
export const NUMBERS_SHOWN_MAX = 48;

/** @returns the number of requests that were refused or failed */
export const errorsOf = ({ results }: Figures): number =>
  results.client_error + results.server_error + results.transport_error;

type Point = SummaryView["points"][number];

/** @returns the hour or day in the reader's zone */
const pointText = ({ atMs }: Point, bucket: Bucket, zone: string): string =>
  bucket === "day" ? dayText(atMs, zone) : exactTime(atMs, zone);

export function Curves({ view: { points, bucket } }: { view: SummaryView }) {
  const { language } = useReader();
  const most = Math.max(1, ...points.map(({ requests }) => requests));
  const slowest = Math.max(1, ...points.map(({ p95Ms }) => p95Ms ?? 0));
  return (
    <div class="curves">
      <Curve
        title={`Requests per ${bucket}`}
        most={numberText(most, language)}
        legend={[
          ["all", "All"],
          ["errors", "Errors"],
        ]}
        points={points}
        bucket={bucket}
      >
        <path class="all" d={barsOf(points, (point) => point.requests / most)} />
        <path class="errors" d={barsOf(points, (point) => errorsOf(point) / most)} />
      </Curve>
      <Curve
        title={`Latency per ${bucket}`}
        most={`${numberText(slowest, language)} ms`}
        legend={[
          ["half", "Half within"],
          ["most", "95% within"],
        ]}
        points={points}
        bucket={bucket}
      >
        <path class="most" d={stepsOf(points, ({ p95Ms }) => p95Ms, slowest)} />
        <path class="half" d={stepsOf(points, ({ p50Ms }) => p50Ms, slowest)} />
      </Curve>
      <Numbers points={points} bucket={bucket} />
    </div>
  );
}

interface CurveProps {
  title: string;
  /** the value of the upper edge */
  most: string;
  legend: readonly (readonly [kind: string, label: string])[];
  points: readonly Point[];
  bucket: Bucket;
  children: ComponentChildren;
}

/** The table below has the numbers, so the drawing has only a description. */
function Curve({ title, most, legend, points, bucket, children }: CurveProps) {
  const { zone } = useReader();
  const [first, last] = [points[0], points.at(-1)];
  return (
    <figure class="curve">
      <figcaption>
        <strong>{title}</strong>
        {legend.map(([kind, label]) => (
          <span key={kind} class={`key ${kind}`}>
            {label}
          </span>
        ))}
      </figcaption>
      <p class="edge muted">{most}</p>
      <svg
        viewBox={`0 0 ${points.length} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}; the highest value is ${most}. The table has the numbers.`}
      >
        {children}
      </svg>
      <p class="ends muted">
        <span>{first && pointText(first, bucket, zone)}</span>
        <span>{last && pointText(last, bucket, zone)}</span>
      </p>
    </figure>
  );
}

/** One path for all bars, each drawn as a broad stroke: an element for each of 400 points would make the page long. */
const barsOf = (points: readonly Point[], heightOf: (point: Point) => number): string =>
  points
    .map((point, at) => {
      const height = heightOf(point) * HEIGHT;
      return height === 0 ? "" : `M${at + 0.5} ${HEIGHT}V${rounded(HEIGHT - height)}`;
    })
    .join("");

/** A horizontal line for each point; the line is interrupted where there is no value. */
function stepsOf(points: readonly Point[], read: (point: Point) => number | null, most: number): string {
  let isDrawing = false;
  return points
    .map((point, at) => {
      const value = read(point);
      const height = value === null ? undefined : rounded(HEIGHT - (value / most) * (HEIGHT - 2) - 1);
      const from = isDrawing ? `V${height}` : `M${at} ${height}`;
      isDrawing = height !== undefined;
      return isDrawing ? `${from}h1` : "";
    })
    .join("");
}

const rounded = (value: number): number => Math.round(value * 10) / 10;

const HEADINGS = [
  "Requests",
  "Refused",
  "Client errors",
  "Server errors",
  "No response",
  "Half (ms)",
  "95% (ms)",
];

function Numbers({ points, bucket }: { points: readonly Point[]; bucket: Bucket }) {
  const { zone, language, url } = useReader();
  const isWhole = url.searchParams.get("numbers") === "all";
  const used = points.filter(({ requests }) => requests > 0);
  const shown = isWhole ? used : used.slice(-NUMBERS_SHOWN_MAX);
  const text = (value: number | null): string => (value === null ? "–" : numberText(value, language));
  return (
    <details class="numbers" open={isWhole}>
      <summary>The numbers as a table</summary>
      <p class="hint">{bucket === "hour" ? "An hour" : "A day"} without requests has no row.</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what can be scrolled (WCAG 2.1.1) */}
      <section class="scroll" tabIndex={0} aria-label="Numbers">
        <table>
          <caption class="visually-hidden">Requests per {bucket}</caption>
          <TableHead
            labels={[bucket === "day" ? "Day" : "Hour", ...HEADINGS.map((number) => ({ number }))]}
          />
          <tbody>
            {shown.map((point) => (
              <tr key={point.atMs}>
                <th scope="row">{pointText(point, bucket, zone)}</th>
                {figuresOf(point).map((value, at) => (
                  <td key={HEADINGS[at]}>{text(value)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {shown.length < used.length && (
        <p>
          These are the last {shown.length}.{" "}
          <a href={addressWith(url, { numbers: "all" })} data-plain>
            Show all {numberText(used.length, language)}
          </a>
        </p>
      )}
    </details>
  );
}

const figuresOf = ({ requests, refused, results, p50Ms, p95Ms }: Figures): (number | null)[] => [
  requests,
  refused,
  results.client_error,
  results.server_error,
  results.transport_error,
  p50Ms,
  p95Ms,
];
