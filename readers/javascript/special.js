// Functions of probability to the last digits but one: incomplete gamma and beta functions, and quantiles.

/** The logarithm of the gamma function above zero; exact products where it is that of a small half. */
export const logGamma = (a) => {
  if (2 * a === Math.round(2 * a) && a < 60) {
    let product = a % 1 ? Math.sqrt(Math.PI) : 1;
    for (let k = a % 1 ? 0.5 : 1; k < a; k++) product *= k;
    return Math.log(product);
  }
  if (a < 20) return logGamma(a + 20) - Math.log(Array.from({ length: 20 }, (_, k) => a + k).reduce((x, y) => x * y));
  const z = 1 / (a * a);
  return (a - 0.5) * Math.log(a) - a + 0.5 * Math.log(2 * Math.PI) + (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z / 1188)))) / a;
};

/** Both regularised incomplete gamma functions, [P(a, x), Q(a, x)]. */
export const gammaShares = (a, x) => {
  if (!(x > 0)) return [0, 1];
  const front = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let [term, sum] = [1 / a, 1 / a];
    for (let n = a + 1; term > sum * 1e-17; n++) sum += term *= x / n;
    return [front * sum, 1 - front * sum];
  }
  let [b, c] = [x + 1 - a, 1e300];
  let d = 1 / b;
  let h = d;
  for (let i = 1; i < 10000; i++) {
    const an = -i * (i - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    h *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return [1 - front * h, front * h];
};

/** Where P(a, x) is a share u between 0 and 1: Halley's steps from Wilson and Hilferty's guess. */
export const gammaQuantile = (a, u) => {
  if (!(u > 0)) return 0;
  if (u >= 1) return Infinity;
  if (a === 1) return -Math.log1p(-u);
  const z = normalQuantile(u);
  let x = a * Math.max(0, 1 - 1 / (9 * a) + z / (3 * Math.sqrt(a))) ** 3;
  if (!(x > 1e-3 * a)) x = Math.exp((Math.log(u) + logGamma(a + 1)) / a);
  for (let step = 0; step < 60; step++) {
    const [below, above] = gammaShares(a, x);
    const slope = Math.exp((a - 1) * Math.log(x) - x - logGamma(a));
    const t = (u < 0.5 ? below - u : 1 - u - above) / slope;
    const moved = t / (1 - 0.5 * Math.min(1, t * ((a - 1) / x - 1)));
    const next = x - moved > 0 ? x - moved : x / 2;
    const done = Math.abs(next - x) <= 2e-16 * x;
    x = next;
    if (done) break;
  }
  return x;
};

const ratio = (above, below, r) => above.reduceRight((sum, one) => sum * r + one) / below.reduceRight((sum, one) => sum * r + one);

/** The quantile of the standard normal law (Wichura 1988, AS 241). */
export const normalQuantile = (p) => {
  const q = p - 0.5;
  if (Math.abs(q) <= 0.425) {
    return q * ratio([3.3871328727963666080, 133.14166789178437745, 1971.5909503065514427, 13731.693765509461125, 45921.953931549871457,
      67265.770927008700853, 33430.575583588128105, 2509.0809287301226727], [1, 42.313330701600911252, 687.18700749205790830,
      5394.1960214247511077, 21213.794301586595867, 39307.895800092710610, 28729.085735721942674, 5226.4952788528545610], 0.180625 - q * q);
  }
  const r = Math.sqrt(-Math.log(q < 0 ? p : 1 - p));
  const far = r <= 5
    ? ratio([1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504, 1.27045825245236838258,
      0.241780725177450611770, 0.0227238449892691845833, 7.74545014278341407640e-4], [1, 2.05319162663775882187, 1.67638483018380384940,
      0.689767334985100004550, 0.148103976427480074590, 0.0151986665636164571966, 5.47593808499534494600e-4, 1.05075007164441684324e-9], r - 1.6)
    : ratio([6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 0.296560571828504891230, 0.0265321895265761230930,
      1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7], [1, 0.599832206555887937690, 0.136929880922735805310,
      0.0148753612908506148525, 7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15], r - 5);
  return q < 0 ? -far : far;
};

/** The regularised incomplete beta function by Lentz's continued fraction. */
export const betaShare = (a, b, x) => {
  if (!(x > 0)) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - betaShare(b, a, 1 - x);
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b)) / a;
  let [c, d] = [1, 1 / (1 - ((a + b) * x) / (a + 1))];
  let h = d;
  for (let m = 1; m < 10000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / (1 + even * d);
    c = 1 + even / c;
    h *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / (1 + odd * d);
    c = 1 + odd / c;
    h *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return front * h;
};

/** Where a function that rises from 0 to 1 over an interval has a value: halving, in logarithms near the lower end. */
const halved = (rises, value, low, high) => {
  for (let step = 0; step < 2000 && high - low > 2e-16 * high; step++) {
    const middle = low > 0 && high > 4 * low ? Math.sqrt(low * high) : low > 0 || high < 1e-290 ? (low + high) / 2 : high / 1024;
    if (rises(middle) < value) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
};

/** Where the regularised incomplete beta function is a share u; small shares keep their digits. */
export const betaQuantile = (a, b, u) => {
  let x = halved((y) => betaShare(a, b, y), u, 0, 1);
  for (let step = 0; step < 4; step++) {
    const slope = Math.exp((a - 1) * Math.log(x) + (b - 1) * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b));
    const next = x - (betaShare(a, b, x) - u) / slope;
    if (next > 0 && next < 1) x = next;
  }
  return x;
};

/** The quantile above a half of Student's law; of infinitely many degrees that of the normal law. */
export const studentQuantile = (degrees, p) => {
  if (!Number.isFinite(degrees)) return normalQuantile(p);
  // degrees / (degrees + t^2) is a beta variable.
  const rest = betaQuantile(degrees / 2, 0.5, 2 * (1 - p));
  return Math.sqrt((degrees * (1 - rest)) / rest);
};

export const erf = (x) => Math.sign(x) * gammaShares(0.5, x * x)[0];
