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
  /** "closeness", "distance", "cosine", "tables" or "products"; "several" where one of the parts is asked, "periods" where a run is. */
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
  /** Of a living release ("periods") the sum over some periods: the weight of each row of its table, and the noise that has. */
  run(read: { weights: readonly number[]; noise: number; countNoise: number }): Release;
  /** What released tables answer, with bands of a level. */
  tables(level?: number): Tables;
  /** Sums of the products of any two coordinates of a record. */
  sums(): Sums;
  /** The same grid read through a kernel of another bandwidth, or one a column. */
  smoothed(bandwidth: number | readonly number[]): Release;
}

export interface TableAxis {
  readonly name: string;
  /** Cells: those of values first, then that of those who have none, where there is one. */
  readonly cells: number;
  readonly valued: number;
  /** Where cells of values begin and the last one ends, and what lies between neighbouring values; 0 where any may be. */
  readonly edges: Float64Array;
  readonly gap: number;
  /** None of numbers and dates. */
  readonly categories: readonly string[];
}

export interface Banded {
  readonly est: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  readonly error: Float64Array;
}

/** By the place of a column, a weight for each of its cells. */
export type Conditions = Readonly<Record<number, Float64Array>>;

/** Tables of counts; columns are meant by their places, in order where several are kept. */
export interface Tables {
  readonly axes: readonly TableAxis[];
  readonly records: number;
  /** Every two columns that were measured together. */
  readonly pairs: readonly (readonly number[])[];
  measured(places: readonly number[]): boolean;
  count(kept: readonly number[], conditions: Conditions): Banded;
  shares(of: readonly number[], conditions: Conditions): Banded;
  mean(place: number, kept: readonly number[], conditions: Conditions): Banded;
  quantile(place: number, share: number, conditions: Conditions): { est: number; low: number; high: number };
  /** Cramér's V of every pair that was measured, the surely strongest first. */
  strengths(): readonly { columns: readonly number[]; est: number; low: number; high: number }[];
}

export interface Sums {
  /** Each coordinate: the 1 in front, numbers between -1 and 1 (`middle` and `half` of the bounds), and categories. */
  readonly terms: readonly { column: string; category: string; middle: number; half: number }[];
  readonly matrix: readonly Float64Array[];
  /** Standard deviation of the noise in each entry. */
  readonly error: number;
}

/** Two releases of the same question: the first less the second, with the noise of both in every band. */
export class Comparison {
  /** Refuses, in a sentence, what cannot be compared. */
  constructor(first: Release, second: Release);
  answer(queries: Queries, level?: number): Differences;
  /** Of tables: shares of all records in every cell of some columns. */
  table(kept: readonly number[], level?: number): Differences;
  mean(place: number, level?: number): Differences;
}

/** Differences of shares or averages, and what each of the two releases says. */
export interface Differences extends Banded {
  readonly one: Banded;
  readonly other: Banded;
}

/** A trained model. */
export class Model {
  /** Everything that the file says. */
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly label: string;
  /** The classes that it tells apart; none where it predicts a number. */
  readonly categories: readonly string[];
  /** Of each record the probability of every class. */
  probabilities(queries: Queries): number[][];
  /** Of each record the number, in its own unit (dates in their steps), and between which ends it would be without noise. */
  predicted(queries: Queries, level?: number): { predicted: number; low: number; high: number }[];
}

/** Opens the contents of a model file (.model.json). */
export function openModel(bytes: Uint8Array): Model;

/** Counted local reports: whoever answered had their answer randomised before it was sent. */
export class LocalReports {
  /** Everything public of the file but its numbers, as it is written there. */
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly question: string;
  readonly answers: readonly string[];
  /** How many reports were counted, and how many were left out. */
  readonly people: number;
  readonly refused: number;
  /** How estimates may be made plausible: "base", "base-pos", "norm-sub", "prob-simplex", "base-cut" or "shrunk". */
  readonly ways: readonly string[];
  /** How many people gave each answer, and the ends of intervals. */
  table(way?: string, level?: number): { estimate: Float64Array; low: Float64Array; high: Float64Array };
}

/** Opens the contents of a file of counted local reports (.npz). */
export function openLocal(bytes: Uint8Array): Promise<LocalReports>;

/** What is wrong with a file or a question, in one sentence. */
export class ReaderError extends Error {}

/** Opens the contents of a release file (.npz). */
export function open(bytes: Uint8Array): Promise<Release>;

/** The manifest and the arrays of a file, unchecked. */
export function readArchive(bytes: Uint8Array): Promise<{
  manifest: Record<string, unknown>;
  arrays: Record<string, { shape: number[]; numbers: ArrayLike<number> }>;
}>;
