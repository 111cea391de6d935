import { isOpen, type Status } from '../../shared/wire/execution.ts'
import { positionAt, positionId } from '../../shared/wire/position.ts'
import { type Call, withTimeout } from '../model/call.ts'
import { streamUnanswered } from '../model/errors.ts'
import type { FeedEvent, ReadStreamCommand, StreamBatch, StreamItem } from '../model/stream.ts'
import { type StreamPorts, sourceOf } from './follow-stream.ts'
import { type StreamSource, streamEvents } from './stream-events.ts'

// How long a worker may take to respond, whether or not the client waits for items.
const WORKER_MS = 8000

const MAX_BYTES = 1024 * 1024

/** What there is from a position on or, if there is nothing, the first items that come while the client waits. */
export async function readStream(ports: StreamPorts, command: ReadStreamCommand, call: Call): Promise<StreamBatch> {
  const source = await sourceOf(ports, command, call)
  call.startWaiting()
  // Until then a worker must have responded. After that it is the end of the client's wait.
  const reading = withTimeout(call, WORKER_MS)
  const batch = createBatch(source, command.maxItems)
  // What was published before the request is returned even if the client does not wait.
  let head = Number.POSITIVE_INFINITY
  let isWaiting = false

  /** Whether the response is complete. */
  async function take(event: FeedEvent): Promise<boolean> {
    // Once it is live, a worker has answered.
    if (event.type === 'obstacle' && batch.isEmpty() && !batch.isLive()) throw event.error
    if (!batch.add(event) || (batch.isLive() && batch.hasItems())) return true
    if (event.type === 'live') head = await headOf(event, { batch, status: source.run.status }, reading)
    if (batch.next() < head || !batch.isEmpty()) return batch.next() >= head
    if (!isWaiting) reading.deadlineAt = Date.now() + command.waitMs
    isWaiting = true
    return false
  }

  for await (const event of streamEvents(ports, source, reading)) if (await take(event)) return batch.result()
  if (batch.isLive() || batch.hasMoved() || call.signal.aborted) return batch.result()
  throw streamUnanswered(source.run)
}

/**
 * The offset after the last item. Without a worker, what is lost is a response all the same, and the end of a closed
 * run follows.
 */
function headOf(
  { head }: Extract<FeedEvent, { type: 'live' }>,
  { batch, status }: { batch: Batch; status: Status },
  call: Call,
): Promise<number> {
  return head(call).catch((error) => {
    if (!batch.isEmpty()) return batch.next()
    if (isOpen(status)) throw error
    return Number.POSITIVE_INFINITY
  })
}

interface Batch {
  /** Adds what the event has. False if the batch is complete; then the event may have been added in part. */
  add(event: FeedEvent): boolean
  hasItems(): boolean
  /** Whether it says nothing, not even what is lost. */
  isEmpty(): boolean
  /** The offset after what was read, also of other topics. */
  next(): number
  hasMoved(): boolean
  /** Whether everything that the workflow had published so far was read. */
  isLive(): boolean
  result(): StreamBatch
}

function createBatch({ run, from }: StreamSource, maxItems: number): Batch {
  const { workflowId } = run
  const items: (StreamItem & { runId: string })[] = []
  let { runId, status } = run
  let next = from === 'now' ? 0 : from
  let bytes = 0
  let isLive = false
  let truncated: StreamBatch['truncated'] = null
  let done: StreamBatch['done'] = null

  function addItems(ofRun: string, added: readonly StreamItem[], after: number): boolean {
    for (const item of added) {
      bytes += JSON.stringify(item).length
      if (items.length === maxItems || (bytes > MAX_BYTES && items.length > 0)) return false
      items.push({ ...item, runId: ofRun })
      next = item.offset + 1
    }
    next = after
    return true
  }

  const isEmpty = () => items.length === 0 && truncated === null && done === null

  return {
    hasItems: () => items.length > 0,
    isEmpty,
    next: () => next,
    hasMoved: () => runId !== run.runId || next > (from === 'now' ? 0 : from),
    isLive: () => isLive,
    add(event) {
      switch (event.type) {
        case 'items':
          return addItems(event.runId, event.items, event.next)
        case 'truncated':
          if (!isEmpty()) return false
          truncated = { from: event.from, to: event.to }
          next = event.to
          return true
        case 'continued':
          ;({ runId } = event.continued)
          status = 'running'
          next = event.from
          return true
        case 'done':
          ;({ status } = event.done)
          done = { status, completedAt: event.done.completedAt, complete: event.done.complete }
          return false
        case 'live':
          isLive = true
          // Known only now if the reader begins with what is published from now on.
          next = event.next
          return true
        default:
          ;({ status } = event.workflow)
          return event.type === 'workflow'
      }
    },
    result: () => ({
      workflowId,
      runId,
      status,
      // The response has the id of its run. An item has one only if it is of another run.
      items: items.map(({ runId: ofRun, ...item }) => ({ ...item, ...(ofRun !== runId && { runId: ofRun }) })),
      next: done === null ? positionId(positionAt({ runId }, next)) : null,
      truncated,
      done,
    }),
  }
}
