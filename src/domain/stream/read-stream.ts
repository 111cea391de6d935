import { linkSignals } from '../../lib/abort.ts'
import { positionId } from '../../protocol/stream.ts'
import type { Call } from '../model/call.ts'
import { streamUnanswered } from '../model/errors.ts'
import type { ReadStreamCommand, StreamBatch, StreamEvent, StreamItem } from '../model/stream.ts'
import { type StreamPorts, sourceOf } from './follow-stream.ts'
import { type StreamSource, streamEvents } from './stream-events.ts'

// How long a worker may take to respond, whether or not the client waits for items.
const WORKER_MS = 8000

const MAX_BYTES = 1024 * 1024

/** What there is from a position on or, if there is nothing, the first items that come while the client waits. */
export async function readStream(ports: StreamPorts, command: ReadStreamCommand, call: Call): Promise<StreamBatch> {
  const source = await sourceOf(ports, command, call)
  call.startWaiting()
  const linked = linkSignals(call.signal)
  let timer = setTimeout(linked.abort, WORKER_MS)
  const reading: Call = { ...call, signal: linked.signal, deadlineAt: Number.POSITIVE_INFINITY }
  const batch = createBatch(source, command.maxItems)
  const beginning = batch.next()
  // What was published before the request is returned even if the client does not wait.
  let head = Number.POSITIVE_INFINITY
  try {
    for await (const event of streamEvents(ports, source, reading)) {
      if (event.type === 'obstacle' && batch.isEmpty()) throw event.error
      const isComplete = !batch.add(event) || (batch.isLive() && !batch.isEmpty())
      if (isComplete) return batch.result()
      if (event.type === 'live') head = await event.head(reading)
      if (batch.next() < head) continue
      clearTimeout(timer)
      timer = setTimeout(linked.abort, command.waitMs)
      head = Number.POSITIVE_INFINITY
    }
  } finally {
    clearTimeout(timer)
    linked.release()
  }
  if (batch.isLive() || batch.next() > beginning || call.signal.aborted) return batch.result()
  throw streamUnanswered(source.run)
}

interface Batch {
  /** Adds what the event has. False if the batch is complete; then the event may have been added in part. */
  add(event: StreamEvent): boolean
  isEmpty(): boolean
  /** The offset after what was read, also of other topics. */
  next(): number
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
    isEmpty,
    next: () => next,
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
      next: done === null ? positionId({ next, runId, isEnd: false }) : null,
      truncated,
      done,
    }),
  }
}
