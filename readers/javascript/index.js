export { openRelease as open, Release } from "./release.js";
export { LocalReports, openLocal } from "./local.js";
export { Model, openModel } from "./models.js";
export { Comparison } from "./compared.js";
export { ReaderError, readArchive } from "./archive.js";
