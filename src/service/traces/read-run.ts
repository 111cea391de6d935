import type { TraceEntry } from '../../shared/wire/trace/entry.ts'
import { maskUnlessRedacted } from '../../shared/wire/trace/mask-entry.ts'
import { toTraceTree } from '../../shared/wire/trace/tree.ts'
import { type Call, withinCall, withTimeout } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { hasErrorName, ServiceError } from '../model/errors.ts'
import type { FoundTrace, TracedRun, TraceSource } from '../model/trace-source.ts'
import type { Ports } from '../ports.ts'

export interface ReadRun {
  /** The first source with entries of the run; null when no source has any. */
  source: string | null
  /** Path of the file, if the source is one. */
  localPath?: string | undefined
  entries: TraceEntry[]
  /** Entries of older trees, which only add what `entries` lack. */
  older: TraceEntry[]
  /** Why the history could not be read, when it is the last source and can be read later. */
  failure: ServiceError | null
}

/** The entries of one run: from the first source that has all of them, or else from every source that has some. */
export async function readRun(
  ports: Pick<Ports, 'catalogs' | 'traceSources'>,
  { run, catalog }: { run: TracedRun; catalog: string },
  call: Call,
  warnings: Set<string>,
): Promise<ReadRun> {
  const read: ReadRun = { source: null, entries: [], older: [], failure: null }
  for (const source of ports.traceSources) {
    const found = await find(source, run, call, warnings)
    read.failure = isTransient(found) ? found : null
    if (found === null || found instanceof ServiceError) continue
    if (read.source === null) Object.assign(read, { source: source.name, localPath: found.localPath })
    const entries = await mask(ports, found.entries, catalog, call)
    if (found.fillsGaps) read.older.push(...entries)
    else read.entries.push(...entries)
    if (found.whole && toTraceTree(read.entries) !== null) break
  }
  // If only sources that fill gaps have entries, these entries are the trace.
  return read.entries.length > 0 ? read : { ...read, entries: read.older, older: [] }
}

/** The trace, or the error of the source, which was added to the warnings. */
async function find(
  source: TraceSource,
  run: TracedRun,
  call: Call,
  warnings: Set<string>,
): Promise<FoundTrace | ServiceError | null> {
  try {
    const found = await source.find(run, withTimeout(call, TIMEOUT_MS.traceSource))
    for (const warning of found?.warnings ?? []) warnings.add(`${source.name}: ${warning}`)
    return found
  } catch (error) {
    if (call.signal.aborted) throw interrupted(run, error)
    if (!(error instanceof ServiceError)) throw error
    call.note({ [`${source.name}Trace`]: error.message })
    warnings.add(`${source.name}: ${error.message}`)
    return error
  }
}

/** If the workers of the catalog redact values, masks the values of entries that were recorded without `redact`. */
async function mask(
  { catalogs }: Pick<Ports, 'catalogs'>,
  entries: TraceEntry[],
  catalog: string,
  call: Call,
): Promise<TraceEntry[]> {
  if (entries.every(({ redacted }) => redacted === catalog)) return entries
  const { value: published } = await withinCall(catalogs.published(catalog), call)
  return published?.redacted ? entries.map((entry) => maskUnlessRedacted(entry, catalog)) : entries
}

function isTransient(found: FoundTrace | ServiceError | null): found is ServiceError {
  return hasErrorName(found, 'EngineUnavailableError', 'ResourceExhaustedError')
}

/** The client has disconnected or the service is shutting down, so no further source can be read. */
function interrupted({ workflowId, runId }: TracedRun, cause: unknown): ServiceError {
  return new ServiceError('EngineUnavailableError', `Reading the trace of workflow ${workflowId} was interrupted.`, {
    cause,
    details: { workflowId, runId, source: 'gateway' },
  })
}
