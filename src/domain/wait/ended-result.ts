import type { TraceTemplates } from '../../protocol/catalog.ts'
import { addIds } from '../model/attach-ids.ts'
import { type Call, withTimeout } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { ServiceError } from '../model/errors.ts'
import type { WorkflowResult } from '../model/execution.ts'
import type { Ports } from '../model/ports.ts'
import { toResult } from '../model/to-result.ts'
import { fillTemplates, traceMetaOrNull } from '../trace/destinations.ts'
import type { EndedRun } from './chain-end.ts'
import { readWithBackoff } from './read-with-backoff.ts'

/** What is known about a run without reading it again. */
export interface KnownFields {
  /** Null if no input is known. */
  runId: string | null
  input: unknown
  /** Where its catalog says that traces are written; null when it does not say. */
  traces: TraceTemplates | null
}

type ResultPorts = Pick<Ports, 'catalogs' | 'engine'>

/** The result of a run that was waited for. Every error carries its ids. */
export async function endedResult(
  ports: ResultPorts,
  ended: EndedRun,
  known: KnownFields,
  call: Call,
): Promise<WorkflowResult> {
  try {
    return await resultOf(ports, ended, known, withTimeout(call, TIMEOUT_MS.closedRun))
  } catch (error) {
    throw addIds(error, ended.run)
  }
}

/**
 * Usually everything is known: the input, and from the catalog the location of the trace. The run is only read if it is
 * another one (the chain continued), was canceled (for the reason), or has a catalog without trace settings.
 */
async function resultOf(
  { engine, catalogs }: ResultPorts,
  { run, closing }: EndedRun,
  known: KnownFields,
  call: Call,
): Promise<WorkflowResult> {
  const isOther = run.runId !== known.runId
  const isCanceled = closing.outcome.status === 'canceled'
  const knownRun = { ...run, input: isOther ? null : known.input }
  const knownTrace = known.traces === null ? null : fillTemplates(known.traces, run, catalogs.namespace)
  if (!isOther && !isCanceled && known.traces !== null) return toResult(knownRun, closing, knownTrace)
  try {
    const execution = await readWithBackoff(engine, run, call, isCanceled ? undefined : closing)
    return toResult(execution, execution.closing ?? closing, await traceMetaOrNull(execution, catalogs, call))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    // The client has waited for the outcome, which is known. Fields that could not be read are null.
    call.note({ endUnread: error.message })
    return toResult(knownRun, closing, knownTrace)
  }
}
