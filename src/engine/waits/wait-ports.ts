import { backgroundCall } from '../../domain/model/call.ts'
import { TIMEOUT_MS } from '../../domain/model/deadlines.ts'
import { isOpen, STATUSES } from '../../protocol/execution.ts'
import type { RunRef } from '../../protocol/run-ref.ts'
import { toStatusWord } from '../../temporal/outcome.ts'
import { quoteLiteral } from '../../temporal/visibility-query.ts'
import type { EngineContext } from '../context.ts'
import type { SharedWaitsPorts } from './shared-waits.ts'
import { follow, readClosingNow } from './unshared-wait.ts'

/** The engine calls of shared waits. No request's deadline ends a call that several requests share. */
export function waitPorts(context: EngineContext): SharedWaitsPorts {
  return {
    slots: context.polls,
    poll: (run, signal, note) =>
      follow(context, run, { ...backgroundCall('waits', 0), deadlineAt: Number.POSITIVE_INFINITY, signal, note }),
    findEnded: (runs) => findEnded(context, runs),
    readClosing: (run) => readClosingNow(context, run, backgroundCall('waits', TIMEOUT_MS.describe)),
  }
}

// Not `!= 'Running'`: a paused run is open too, and older engines reject a query with the word `Paused`.
const ENDED_WORDS = STATUSES.filter((status) => !isOpen(status)).map((status) => quoteLiteral(toStatusWord(status)))
const ENDED = `ExecutionStatus IN (${ENDED_WORDS.join(',')})`

/**
 * The run ids of those that the engine's visibility store lists as ended. It may list a run late, or not at all.
 *
 * Rejects with an `RpcError` while the store is unavailable or at its rate limit.
 */
export async function findEnded(
  { rpc, namespace }: EngineContext,
  runs: readonly RunRef[],
): Promise<ReadonlySet<string>> {
  const runIds = runs.map(({ runId }) => quoteLiteral(runId)).join(',')
  const { executions } = await rpc(
    'listWorkflowExecutions',
    { namespace, query: `${ENDED} AND RunId IN (${runIds})`, pageSize: runs.length },
    backgroundCall('waits', TIMEOUT_MS.describe),
  )
  return new Set((executions ?? []).map(({ execution }) => execution?.runId ?? ''))
}
