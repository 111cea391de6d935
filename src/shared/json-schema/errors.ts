/** A keyword or schema that cannot be evaluated because it is invalid. */
export class SchemaError extends Error {}

/** A keyword that is valid JSON Schema but not supported here. */
export class UnsupportedError extends SchemaError {}

/** A schema that refers to itself for the very same value: validation would never end. */
export class CircularReferenceError extends Error {}

/** Compiling or validating costs more than its budget. */
export class BudgetExceededError extends Error {}
