/** Errors that the CLI itself finds. */

/** The command line, a variable or a settings file is wrong. */
export class UsageError extends Error {}
