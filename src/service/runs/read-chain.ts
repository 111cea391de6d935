import { readThroughCache } from '../../shared/lib/cache.ts'
import { creationTimeOf } from '../../shared/lib/new-id.ts'
import type { Closing } from '../../shared/wire/execution.ts'
import { type ExplainPorts, reasonsFor } from '../explain/explain.ts'
import { admitsRun, backgroundCall, type Call, withinCall } from '../model/call.ts'
import type { ChainState } from '../model/chain-state.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import type { Engine } from '../model/engine.ts'
import { hasErrorName, nullWhenNotFound, ServiceError } from '../model/errors.ts'
import { type Description, type ExecutionRef, rejectReserved } from '../model/execution.ts'
import type { Ports } from '../ports.ts'
import { toResult } from './chain-end.ts'

export type ReadChain = (ref: ExecutionRef, call: Call) => Promise<ChainState>

type ReadChainPorts = Pick<Ports, 'catalogs' | 'engine' | 'now'>

/**
 * Makes one engine call for an open chain and one more for its reason, besides the one for polls of its task queue,
 * which is cached; two for an ended chain; a few more while it continues, or if another chain has used the id since.
 */
export function createReadChain(ports: ReadChainPorts): ReadChain {
  const explainPorts: ExplainPorts = { ...ports, engine: { lastPolledAt: cachedPolls(ports) } }
  return async (ref, call) => {
    let run = await lastRun(ports.engine, ref, call)
    while (true) {
      rejectReserved(run)
      const described = run
      if (described.readEnd === undefined) return openChain(explainPorts, described, await described.asks?.())
      const closing = await described.readEnd(call)
      if (closing === null) throw unreadableEnd(described)
      if (closing.nextRunId === null) return endedChain(described, closing)
      const next = await ports.engine.describe({ workflowId: run.workflowId, runId: closing.nextRunId }, call)
      if (!admitsRun(call, next)) return endedChain(described, closing)
      run = next
    }
  }
}

/** The latest run of the workflow id if it continues the requested one, which may have been deleted. */
async function lastRun(
  engine: Pick<Engine, 'describe'>,
  { workflowId, runId }: ExecutionRef,
  call: Call,
): Promise<Description> {
  if (runId === undefined) return engine.describe({ workflowId }, call)
  const found = await engine.describe({ workflowId }, call).catch(nullWhenNotFound)
  // If the caller may not read it, the chain is followed from its beginning to the last run that it may.
  const latest = found !== null && admitsRun(call, found) ? found : null
  if (latest !== null && (latest.runId === runId || latest.firstRunId === runId)) return latest
  const run = await engine.describe({ workflowId, runId }, call)
  return latest?.firstRunId === run.firstRunId ? latest : run
}

function openChain(ports: ExplainPorts, run: Description, asks: unknown): ChainState {
  const explain = async (call: Call) => {
    try {
      const [reason] = await reasonsFor(ports, run, call)
      return reason
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      call.note({ reasonUnread: error })
      return null
    }
  }
  return { kind: 'open', ...factsOf(run), asks, explain }
}

function endedChain(run: Description, closing: Closing): ChainState {
  const facts = { ...factsOf(run), endedAt: run.completedAt }
  try {
    return { kind: 'ended', ...facts, result: toResult({ ...run, input: null }, closing, null) }
  } catch (error) {
    if (!hasErrorName(error, 'NotSupportedError')) throw error
    return { kind: 'unreadable', ...facts, error }
  }
}

function factsOf(run: Description) {
  const { workflowId, runId, firstRunId, workflowName, catalog, startedAt } = run
  const createdAt = firstRunId === runId ? null : creationTimeOf(firstRunId)
  return { workflowId, runId, workflowName, catalog, startedAt: createdAt === null ? startedAt : new Date(createdAt) }
}

function unreadableEnd({ workflowId, runId, status }: Description): ServiceError {
  return new ServiceError('EngineError', `The history of workflow ${workflowId} has no event that ends the run`, {
    details: { workflowId, runId, workflowStatus: status },
  })
}

const POLLS_TTL_MS = 5000
const MAX_QUEUES = 1000

/** When a worker last polled a task queue. Clients read open chains again and again, and many share one task queue. */
function cachedPolls({ engine, now }: ReadChainPorts): Engine['lastPolledAt'] {
  const polls = readThroughCache({
    name: 'polls',
    read: (key) => {
      const [taskQueue, tasks] = JSON.parse(key)
      return engine.lastPolledAt(taskQueue, backgroundCall('polls', TIMEOUT_MS.describe), tasks)
    },
    ttlMs: POLLS_TTL_MS,
    maxKeys: MAX_QUEUES,
    ...(now && { now }),
  })
  return async (taskQueue, call, tasks = 'workflow') =>
    (await withinCall(polls.get(JSON.stringify([taskQueue, tasks])), call)).value
}
