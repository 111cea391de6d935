/** Checks that starts name runs that the engine has returned for them. */
import type { Run } from './engine-model/run.ts'
import type { ReturnedRun } from './engine-network.ts'
import { type Exchange, markerOf, saidIn, verbOf } from './exchange.ts'

/**
 * One sentence for each response to a start that names a run of a chain which the engine has not returned for it. A run
 * that another request has started since may look like one that the start has found.
 */
export function checkStarts(
  exchanges: readonly Exchange[],
  returned: readonly ReturnedRun[],
  runs: ReadonlyMap<string, Run>,
): string[] {
  const firstOf = (runId: string) => runs.get(runId)?.firstRunId
  const byMarker = Map.groupBy(returned, ({ marker }) => marker)
  return exchanges.flatMap((exchange) => {
    const { response, client, gateway, path } = exchange
    const { runId } = saidIn(exchange)
    if (response === null || response.status >= 300 || typeof runId !== 'string') return []
    if (!SINGLE_STARTS.has(verbOf(exchange))) return []
    const known = byMarker.get(markerOf(exchange) ?? null) ?? []
    if (known.some((one) => firstOf(one.runId) === firstOf(runId))) return []
    const about = `${client} > ${gateway} POST ${path}: ${response.status}`
    return [`run of another request: ${about} names ${runId}, which the engine has not returned for it`]
  })
}

const SINGLE_STARTS: ReadonlySet<string> = new Set(['start', 'run'])
