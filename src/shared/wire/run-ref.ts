/** Identifies exactly one run. */
export interface RunRef {
  workflowId: string
  runId: string
}

/** A run id as a regular expression, which JSON Schema understands too. */
export const UUID_PATTERN = '[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}'
