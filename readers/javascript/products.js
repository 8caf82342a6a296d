// Sums of products of every two coordinates of a record, from which regressions, correlations and axes are worked out.
import { ReaderError } from "./archive.js";

const UNIT = 2 ** 30;

export class Products {
  constructor(parameters, domain) {
    this.domain = domain;
    this.answers = "products";
    /** Each coordinate: its column, its category, and the middle and half of the bounds that it is between. */
    this.terms = [{ column: "", category: "", middle: 0, half: 1, group: "", squared: true }];
    domain.columns.forEach((column, c) => {
      const categories = column.kind === "ordered" ? null : column.categories;
      for (let k = 0; k < (categories?.length ?? column.width); k++) {
        const [middle, half] = categories ? [0, 1] : [(column.low + column.high) / 2, (column.high - column.low) / 2];
        this.terms.push({ column: column.name, category: categories?.[k] ?? "", middle, half, group: categories ? `c${c}` : `${c},${k}`, squared: !categories });
      }
    });
    const { terms } = this;
    this.pairs = terms.flatMap((one, i) => terms.slice(i).flatMap((other, j) => (one.group !== other.group || (!j && one.squared) ? [[i, i + j]] : [])));
    this.shape = [this.pairs.length];
  }

  encode() {
    throw new ReaderError("Sums of products are asked by `sums`, and not at places.");
  }

  /** The sum of z zᵀ row by row, z = (1, numbers between -1 and 1, categories as 0 and 1). */
  matrix(table, variance, records) {
    const size = this.terms.length;
    const matrix = Array.from({ length: size }, () => new Float64Array(size));
    this.pairs.forEach(([i, j], place) => { matrix[i][j] = matrix[j][i] = table[place] / UNIT; });
    this.terms.forEach(({ squared }, i) => { if (!squared) matrix[i][i] = matrix[0][i]; });
    matrix[0][0] = records;
    return { terms: this.terms, matrix, error: Math.sqrt(variance) / UNIT };
  }

  total(table) {
    return table[0] / UNIT;
  }

  totalVariance(variance) {
    return variance / UNIT ** 2;
  }
}
