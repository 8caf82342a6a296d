export { openRelease as open, Release } from "./release.js";
export { ReaderError, readArchive } from "./archive.js";
