// Converts offsets in a text to lines and columns. Lines end with a line feed.

/** @returns the offset of each line, in UTF-16 units */
export function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", end + 1)) starts.push(end + 1);
  return starts;
}

/** @returns a function from an offset in UTF-16 units to its 1-based line and column */
export function positionsIn(text: string): (offset: number) => { line: number; column: number } {
  const starts = lineStartsOf(text);
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}
