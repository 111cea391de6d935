/**
 * Something began or ended in a run. Every trace source returns entries; `tree.ts` builds the tree from them.
 * Entries from different sources about the same thing have the same `id`.
 */
export interface TraceEntry {
  id: string
  /** The `id` of the node around it; null for the workflow itself. */
  parentId: string | null
  /**
   * `workflow`, `step`, `timer`, `signal`, `update`, `child_workflow`, `workflow_task`,
   * or any kind that a worker records.
   */
  kind: string
  name: string
  /** Epoch milliseconds. */
  at: number
  phase: 'began' | 'ended'
  /** With `began`. */
  input?: unknown
  /** With `ended`. */
  output?: unknown
  /** With `ended`; for a workflow task that is still failing, with `began`. */
  error?: TraceError
  attributes?: Readonly<Record<string, unknown>>
  /**
   * JSON Pointers into this entry (`/input`, `/input/1`, `/output`, `/attributes`, `/attributes/summary`,
   * `/attributes/lastFailure`, `/error/message`, `/error/details`, `/error/lastHeartbeatDetails`) of values that are
   * still encoded by the worker's payload codec: `{metadata, data}`, both in base64.
   */
  encoded?: readonly string[]
  /** The task queue whose own `redact` was applied to all values of this entry. */
  redacted?: string
}

export interface TraceError {
  name: string
  message: string
  /** The values that the worker has added to the failure. */
  details?: unknown[]
  /** Of a timeout: what the activity's last heartbeat reported. */
  lastHeartbeatDetails?: unknown[]
  cause: TraceError | null
}

export const ERROR_VALUES = ['details', 'lastHeartbeatDetails'] as const

type ErrorValues = Pick<TraceError, (typeof ERROR_VALUES)[number]>

/** Changes the values of an error that are present. Undefined leaves them out. */
export function mapErrorValues(
  values: ErrorValues,
  change: (value: unknown[], key: keyof ErrorValues) => unknown[] | undefined,
): ErrorValues {
  const changed: ErrorValues = {}
  for (const key of ERROR_VALUES) {
    const value = values[key] && change(values[key], key)
    if (value) changed[key] = value
  }
  return changed
}

/** Replaces a value, or the rest of a string, that was removed because of its size or depth. */
export const TRUNCATED = '… [truncated: too large]'

/** Longer chains of causes are truncated. */
export const MAX_CAUSES = 10

/** A payload as a trace archives it, and as codec servers exchange it: metadata values and data in base64. */
export interface EncodedPayload {
  metadata?: Record<string, string>
  data?: string
}
