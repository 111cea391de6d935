/** Replaces modules in bundles that load them and do not use them (`rolldown.config.ts`). */
export {}
