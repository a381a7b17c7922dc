// A page in a browser with a slow processor: when it first shows something, and how long it takes to respond to input.
import type { Page } from "playwright-core";

/** A processor this many times slower represents an old laptop. */
export const SLOWED_TIMES = 4;

/** Slows the processor down for this page, until it is closed. */
export async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWED_TIMES });
}

/** @returns milliseconds from the start of the navigation until the page showed text or an image */
export const firstPaintMs = (page: Page): Promise<number> => page.evaluate(readFirstPaint);

/** Runs in the browser. */
const readFirstPaint = () =>
  new Promise<number>((resolve) =>
    new PerformanceObserver((list) => {
      for (const { name, startTime } of list.getEntries())
        if (name === "first-contentful-paint") resolve(startTime);
    }).observe({ type: "paint", buffered: true }),
  );

/** @returns milliseconds of the slowest event of these interactions until the next paint, in steps of 8; 0 if all took less than 16 */
export async function slowestInteractionMs(page: Page, interact: () => Promise<unknown>): Promise<number> {
  await page.evaluate(watchEvents);
  await interact();
  return await page.evaluate(readSlowestEvent);
}

/** Runs in the browser. */
const watchEvents = () => {
  const slowest = { ms: 0 };
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) slowest.ms = Math.max(slowest.ms, duration);
  });
  observer.observe({ type: "event", durationThreshold: 16 } as PerformanceObserverInit);
  Object.assign(window, { slowestEvent: slowest });
};

/** Runs in the browser, after the next two paints, because entries come after a paint. */
const readSlowestEvent = () =>
  new Promise<number>((resolve) => {
    const read = () => resolve((window as unknown as { slowestEvent: { ms: number } }).slowestEvent.ms);
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(read, 100)));
  });
