import { isOpen } from '../../shared/wire/execution.ts'
import { type Call, withTimeout } from '../model/call.ts'
import { TIMEOUT_MS } from '../model/deadlines.ts'
import { ServiceError } from '../model/errors.ts'
import type { Description } from '../model/execution.ts'
import {
  type EventValues,
  type FollowCommand,
  HISTORY_START,
  type HistoryFeed,
  type HistoryFeedPage,
} from '../model/history-page.ts'
import { describeUserRun, eventValues, type HistoryPorts, toHistoryRun, withoutSecrets } from './history.ts'

// The limit on the memory of a stream, whatever the length of the history.
const PAGE_SIZE = 100

// How long the engine waits for an event in one call.
const WAIT_MS = 60_000

export async function followHistory(
  ports: HistoryPorts,
  { ref, after, includePayloads }: FollowCommand,
  call: Call,
): Promise<HistoryFeed | null> {
  const run = await describeUserRun(ports, ref, call)
  if (after > run.historyLength) throw notAnEvent(run, after)
  if (after === run.historyLength && !isOpen(run.status)) return null
  const values = await eventValues(ports, run, includePayloads, call)
  return { workflow: toHistoryRun(run), pages: pagesAfter(ports, { run, after, values }, call) }
}

async function* pagesAfter(
  { engine }: HistoryPorts,
  { run, after, values }: { run: Description; after: number; values: EventValues },
  call: Call,
): AsyncGenerator<HistoryFeedPage> {
  let from = { ...HISTORY_START, after }
  while (!call.signal.aborted) {
    const request = { from, maxEvents: PAGE_SIZE, waitMs: WAIT_MS, values }
    const page = await engine.events(run, request, withTimeout(call, TIMEOUT_MS.request)).catch((error) => {
      // A read that the end of the request has aborted: the stream ends, and the client can continue.
      if (call.signal.aborted) return null
      throw error
    })
    if (page === null) return
    const closed = page.end === null ? null : toHistoryRun(run, page)
    yield { events: page.events.map(withoutSecrets), closed }
    if (closed !== null) return
    from = page.next
  }
}

/** The client has read another run: the workflow may have continued as a new one since. */
function notAnEvent({ workflowId, runId, historyLength }: Description, after: number): ServiceError {
  const message = `Last-Event-ID ${after} is not an event of run ${runId}, which has ${historyLength} events: use the path of the run that was read, /workflow/:id/runs/:rid`
  return new ServiceError('ValidationError', message, { details: { workflowId, runId } })
}
