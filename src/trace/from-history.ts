import type { Engine } from '../domain/engine.ts'
import { ServiceError } from '../domain/errors.ts'
import type { Description } from '../domain/execution.ts'
import type { TraceSource } from '../domain/traces.ts'
import type { TraceEntry } from '../protocol/trace-entry.ts'
import { walkRuns } from '../protocol/trace-walk.ts'

export interface HistoryTraceOptions {
  engine: Pick<Engine, 'entries'>
  /** Of all entries together. */
  maxBytes: number
  /** Runs of one trace: the links of its chain and all children. */
  maxRuns?: number
}

// Each is a call of the engine at least, and a source has three seconds.
const MAX_RUNS = 1000

/** The engine's own event history: there for every workflow of every SDK, running ones too. */
export function tracesFromHistory({ engine, maxBytes, maxRuns = MAX_RUNS }: HistoryTraceOptions): TraceSource {
  return {
    name: 'history',
    async find(run, call) {
      const { firstRunId } = run
      const { entries, faults } = await walkRuns(run, { read: (ref) => engine.entries(ref, call), firstRunId, maxRuns, maxBytes })
      const pending = await pendingAttempts(run, entries).catch((fault: unknown) => {
        faults.push(fault)
        return []
      })
      return {
        entries: [...entries, ...pending, ...failingTask(run, entries)],
        whole: true,
        warnings: [...toWarnings(faults), ...cut(entries)],
      }
    },
  }
}

/** What the engine tells of attempts only in the description, until the activity has ended. */
async function pendingAttempts({ runId, pendingSteps }: Description, entries: readonly TraceEntry[]): Promise<TraceEntry[]> {
  return ((await pendingSteps?.()) ?? []).flatMap(({ activityId, attempts, lastFailure }) => {
    const isIt = (entry: TraceEntry) => entry.parentId === runId && entry.kind === 'step' && entry.attributes?.activityId === activityId
    const step = entries.findLast(isIt)
    if (step === undefined) return []
    const { input: _input, ...rest } = step
    return [{ ...rest, attributes: { attempts, ...(lastFailure !== null && { lastFailure }) } }]
  })
}

/** Its first failure alone is in the history, and which attempt is pending in the description. */
function failingTask({ runId, failingTask: task }: Description, entries: readonly TraceEntry[]): TraceEntry[] {
  const last = entries.findLast(({ kind, parentId }) => kind === 'workflow_task' && parentId === runId)
  if (task === undefined || last === undefined || last.phase === 'ended') return []
  return [{ ...last, attributes: { attempts: task.attempt } }]
}

function toWarnings(faults: readonly unknown[]): string[] {
  const bug = faults.find((fault) => !(fault instanceof ServiceError))
  if (bug !== undefined) throw bug
  return [...new Set(faults.map((fault) => (fault instanceof ServiceError ? fault.message : '')))]
}

function cut(entries: readonly TraceEntry[]): string[] {
  const count = new Set(entries.filter(({ attributes }) => attributes?.truncated === true).map(({ id }) => id)).size
  return count === 0 ? [] : [`not all was read; what lacks something has attributes.truncated (${count} ${count === 1 ? 'node' : 'nodes'})`]
}
