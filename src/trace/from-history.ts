import type { Engine } from '../domain/engine.ts'
import { ServiceError } from '../domain/errors.ts'
import type { TracedRun, TraceSource } from '../domain/trace/trace-source.ts'
import { truncatedEntry } from '../domain/trace/truncated-entry.ts'
import type { TraceEntry } from '../protocol/trace/entry.ts'

export interface HistoryTraceOptions {
  engine: Pick<Engine, 'readEntries'>
  /** Of the entries of one run, as JSON. */
  maxBytes: number
}

/** The engine's own event history: there for every workflow of every SDK, running ones too. */
export function tracesFromHistory({ engine, maxBytes }: HistoryTraceOptions): TraceSource {
  return {
    name: 'history',
    async find(run, call) {
      const entries: TraceEntry[] = []
      const warnings: string[] = []
      let left = maxBytes
      try {
        for await (const entry of engine.readEntries(run, call)) {
          left -= JSON.stringify(entry).length
          entries.push(entry)
          if (left < 0) break
        }
        entries.push(...failingTask(run, entries), ...(await pendingAttempts(run, entries)))
      } catch (error) {
        if (!(error instanceof ServiceError) || entries.length === 0) throw error
        warnings.push(error.message)
      }
      const isCut = left < 0 || warnings.length > 0
      if (left < 0)
        warnings.push(`the history is larger than ${maxBytes} bytes: the node with attributes.truncated lacks the rest`)
      return {
        entries: isCut ? [...entries, ...entries.slice(0, 1).map(truncatedEntry)] : entries,
        whole: true,
        redacted: false,
        warnings,
      }
    },
  }
}

/** What the engine says of attempts only in the description, until the activity has ended. */
async function pendingAttempts(
  { runId, pendingSteps }: TracedRun,
  entries: readonly TraceEntry[],
): Promise<TraceEntry[]> {
  return ((await pendingSteps?.()) ?? []).flatMap(({ activityId, attempts, lastFailure }) => {
    const isIt = (entry: TraceEntry) =>
      entry.parentId === runId && entry.kind === 'step' && entry.attributes?.activityId === activityId
    const step = entries.findLast(isIt)
    if (step === undefined) return []
    const { input: _input, ...rest } = step
    return [{ ...rest, attributes: { attempts, ...(lastFailure !== null && { lastFailure }) } }]
  })
}

/** Its first failure alone is in the history, and which attempt is pending in the description. */
function failingTask({ runId, failingTask: task }: TracedRun, entries: readonly TraceEntry[]): TraceEntry[] {
  const last = entries.findLast(({ kind, parentId }) => kind === 'workflow_task' && parentId === runId)
  if (task === undefined || last === undefined || last.phase === 'ended') return []
  return [{ ...last, attributes: { attempts: task.attempt } }]
}
