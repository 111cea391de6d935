import { REDACTED, redactSecrets } from '../secret-names.ts'
import { mapErrorValues, type TraceEntry, type TraceError } from './entry.ts'

// The attributes that come from the engine. All others may be values of the workflow.
const ENGINE_ATTRIBUTES: ReadonlySet<string> = new Set([
  'abandoned',
  'activityId',
  'attempts',
  'canceled',
  'cancelRequested',
  'catalog',
  'durationMs',
  'endpoint',
  'lastEndedAt',
  'lastStartedAt',
  'local',
  'nextAttemptAt',
  'nextRunId',
  'operation',
  'previousRunId',
  'queueMs',
  'runId',
  'service',
  'status',
  'storedElsewhere',
  'truncated',
  'updateId',
  'workflowId',
])

const SPAN_ATTRIBUTES: ReadonlySet<string> = new Set(['attempt', 'truncated'])

/**
 * The entry as it may be shown and stored if the workers of `catalog` redact values: masked, unless they have redacted
 * it.
 */
export function maskUnlessRedacted(entry: TraceEntry, catalog: string): TraceEntry {
  return entry.redacted === catalog ? entry : maskEntry(entry)
}

/** The entry without the values of keys that name secrets. */
export function redactEntry(entry: TraceEntry): TraceEntry {
  const { input, output, error, attributes } = entry
  return {
    ...entry,
    ...(error && { error: redactError(error) }),
    ...(input !== undefined && { input: redactSecrets(input) }),
    ...(output !== undefined && { output: redactSecrets(output) }),
    ...(attributes !== undefined && { attributes: redactSecrets(attributes) as Record<string, unknown> }),
  }
}

function redactError({ cause, ...error }: TraceError): TraceError {
  return {
    ...error,
    ...mapErrorValues(error, (value) => redactSecrets(value) as unknown[]),
    cause: cause && redactError(cause),
  }
}

/** The entry with its values replaced by `[redacted]`. Names of spans and their attributes are values too. */
export function maskEntry(entry: TraceEntry): TraceEntry {
  const { encoded: _, redacted: __, ...rest } = entry
  const { id, input, output, error, attributes } = entry
  const isSpan = isSpanId(id)
  return {
    ...rest,
    ...(isSpan && { name: REDACTED }),
    ...(input != null && { input: REDACTED }),
    ...(output != null && { output: REDACTED }),
    ...(error && { error: maskError(error) }),
    ...(attributes && { attributes: maskAttributes(attributes, isSpan ? SPAN_ATTRIBUTES : ENGINE_ATTRIBUTES) }),
  }
}

/** Whether the entry was recorded inside a step, by a worker. The others come from the engine's history. */
export function isSpanId(id: string): boolean {
  return id.includes(':span:')
}

function maskAttributes(attributes: Readonly<Record<string, unknown>>, kept: ReadonlySet<string>) {
  return Object.fromEntries(
    Object.entries(attributes).map(([key, value]) => [key, kept.has(key) && !isNested(value) ? value : REDACTED]),
  )
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function maskError({ name, cause, ...values }: TraceError): TraceError {
  return {
    name,
    message: REDACTED,
    ...mapErrorValues(values, () => [REDACTED]),
    cause: cause === null ? null : maskError(cause),
  }
}
