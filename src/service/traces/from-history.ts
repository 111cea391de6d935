import type { TraceEntry } from '../../shared/wire/trace/entry.ts'
import type { Call } from '../model/call.ts'
import type { Engine } from '../model/engine.ts'
import { ServiceError } from '../model/errors.ts'
import type { FoundTrace, TracedRun, TraceSource } from '../model/trace-source.ts'
import { truncatedEntry } from './truncated-entry.ts'

export interface HistoryTraceOptions {
  engine: Pick<Engine, 'readEntries'>
  /** Limit for the entries of one run, as JSON. */
  maxBytes: number
}

/** Reads the trace from Temporal's event history, which every workflow of every SDK has, open runs included. */
export function tracesFromHistory({ engine, maxBytes }: HistoryTraceOptions): TraceSource {
  return {
    name: 'history',
    async find(run, call) {
      const { entries, warnings } = await readHistory(engine, maxBytes, run, call)
      const marks = warnings.length === 0 ? [] : entries.slice(0, 1).map(truncatedEntry)
      return { entries: [...entries, ...marks], whole: true, warnings }
    },
  }
}

/** Returns what was read before an error or the limit, with a warning. Rejects if nothing was read. */
async function readHistory(
  engine: HistoryTraceOptions['engine'],
  maxBytes: number,
  run: TracedRun,
  call: Call,
): Promise<Pick<FoundTrace, 'entries' | 'warnings'>> {
  const entries: TraceEntry[] = []
  const warnings: string[] = []
  let remaining = maxBytes
  try {
    for await (const entry of engine.readEntries(run, call)) {
      remaining -= JSON.stringify(entry).length
      entries.push(entry)
      if (remaining < 0) break
    }
    entries.push(...failingTask(run, entries), ...(await pendingAttempts(run, entries)))
  } catch (error) {
    if (!(error instanceof ServiceError) || entries.length === 0) throw error
    warnings.push(error.message)
  }
  if (remaining < 0) {
    warnings.push(`the history is larger than ${maxBytes} bytes: nodes with attributes.truncated are incomplete`)
  }
  return { entries, warnings }
}

/** The attempts of open activities, which are only in the run's description. */
async function pendingAttempts(
  { runId, pendingSteps }: TracedRun,
  entries: readonly TraceEntry[],
): Promise<TraceEntry[]> {
  return ((await pendingSteps?.()) ?? []).flatMap(({ activityId, attempts, lastFailure, times }) => {
    const isOfActivity = (entry: TraceEntry) =>
      entry.parentId === runId && entry.kind === 'step' && entry.attributes?.activityId === activityId
    const step = entries.findLast(isOfActivity)
    if (step === undefined) return []
    const { input: _input, ...rest } = step
    return [{ ...rest, attributes: { attempts, ...(lastFailure !== null && { lastFailure }), ...times } }]
  })
}

/** The history has only the first failure of a workflow task; its current attempt is in the run's description. */
function failingTask({ runId, failingTask: task }: TracedRun, entries: readonly TraceEntry[]): TraceEntry[] {
  const last = entries.findLast(({ kind, parentId }) => kind === 'workflow_task' && parentId === runId)
  if (task === undefined || last === undefined || last.phase === 'ended') return []
  return [{ ...last, attributes: { attempts: task.attempt } }]
}
