/** What may stand in a column: a number, a category, a date as text, or a list of numbers or of items. */
export type Value = number | string | Date | readonly (number | string)[];

/** Values by the name of the column; a single value is the same for all places. */
export type Queries = Readonly<Record<string, readonly Value[] | ArrayLike<number> | Value>>;

export interface Answers {
  /** The sum over all records: how many records' worth of closeness there is, or how far all of them are. */
  estimate: Float64Array;
  /** Standard deviation of the estimate, from chance in the rows and noise together; infinite where nobody knows it. */
  standardError: Float64Array;
  /** The ends of an interval that holds the exact sum at the stated level. */
  low: Float64Array;
  high: Float64Array;
  /** The estimate divided by the number of records. */
  density: Float64Array;
}

export interface Column {
  readonly name: string;
  readonly kind: string;
  readonly low?: number;
  readonly high?: number;
  readonly categories?: readonly string[];
}

export class Release {
  /** Everything public of the file but its numbers, as it is written there. */
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly names: readonly string[];
  readonly columns: readonly Column[];
  /** "closeness", "distance", "cosine", "tables" or "products"; "several" where one of the parts is asked. */
  readonly answers: string;
  /** The classes that it tells apart; none for most releases. */
  readonly classes: readonly string[];
  /** The questions of a release of several, each a release. */
  readonly parts: Readonly<Record<string, Release>>;
  readonly records: number;
  /** Standard deviation of `records`. */
  readonly recordsError: number;
  answer(queries: Queries, level?: number): Answers;
  part(name: string): Release;
  ofClass(which: string | number): Release;
  /** The same grid read through a kernel of another bandwidth, or one a column. */
  smoothed(bandwidth: number | readonly number[]): Release;
}

/** What is wrong with a file or a question, in one sentence. */
export class ReaderError extends Error {}

/** Opens the contents of a release file (.npz). */
export function open(bytes: Uint8Array): Promise<Release>;

/** The manifest and the arrays of a file, unchecked. */
export function readArchive(bytes: Uint8Array): Promise<{
  manifest: Record<string, unknown>;
  arrays: Record<string, { shape: number[]; numbers: ArrayLike<number> }>;
}>;
