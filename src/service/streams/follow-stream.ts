import { sleep, whenAborted } from '../../shared/lib/abort.ts'
import { isOf, nextOffset, type Position } from '../../shared/wire/position.ts'
import type { Call } from '../model/call.ts'
import { ServiceError } from '../model/errors.ts'
import { type ExecutionRef, rejectReserved } from '../model/execution.ts'
import type { FeedEvent, FollowStreamCommand, StreamFeed } from '../model/stream.ts'
import type { Ports } from '../ports.ts'
import { type StreamSource, streamEvents } from './stream-events.ts'

export type StreamPorts = Pick<Ports, 'catalogs' | 'describeShared' | 'engine'>

// A workflow without a stream gets an ordinary error response if one of its workers responds in time.
const FIRST_WAIT_MS = 2000

export async function followStream(
  ports: StreamPorts,
  command: FollowStreamCommand,
  call: Call,
): Promise<StreamFeed | null> {
  const source = await sourceOf(ports, command, call)
  if (isPosition(command.from) && command.from.last === 'end') return null
  call.startWaiting()
  const events = streamEvents(ports, source, { ...call, deadlineAt: Number.POSITIVE_INFINITY })
  const first = await events.next()
  const second = events.next()
  await Promise.race([second, sleep(FIRST_WAIT_MS, call.signal)])
  second.catch(() => {})
  // A client may leave before it reads anything: then nothing below runs, and the reader would stay open.
  const stop = whenAborted(call.signal, () => void events.return(undefined))
  return { events: resumed([first, second], events, stop) }
}

/** The run to begin with, and where. */
export async function sourceOf(ports: StreamPorts, command: FollowStreamCommand, call: Call): Promise<StreamSource> {
  const { from, topics, followsChain } = command
  const { engine, describeShared = engine.describe } = ports
  const described = await describeShared(pinnedToPosition(command), call)
  rejectReserved(described)
  const { workflowId, runId, status } = described
  // The rest of the description would stay in memory as long as the reader.
  return { run: { workflowId, runId, status }, from: isPosition(from) ? nextOffset(from) : from, topics, followsChain }
}

/** The reference, pinned to the run of the position: the workflow may have continued as a new one since. */
export function pinnedToPosition({ ref, from }: Pick<FollowStreamCommand, 'from' | 'ref'>): ExecutionRef {
  if (!isPosition(from)) return ref
  if (isOf(from, ref)) return { ...ref, runId: from.runId }
  throw new ServiceError('ValidationError', 'Last-Event-ID and from must be the id of an item of this run', {
    details: { ...ref },
  })
}

function isPosition(from: FollowStreamCommand['from']): from is Position {
  return typeof from === 'object'
}

/**
 * The events, of which the first ones were requested already. Not a generator: each generator that an item passes
 * through adds some 4 % to its CPU time.
 */
function resumed(
  first: (IteratorResult<FeedEvent> | Promise<IteratorResult<FeedEvent>>)[],
  rest: AsyncGenerator<FeedEvent>,
  onReturn: () => void,
): AsyncIterable<FeedEvent> {
  const events: AsyncIterator<FeedEvent> = {
    async next() {
      return first.shift() ?? rest.next()
    },
    return() {
      onReturn()
      return rest.return(undefined)
    },
  }
  return { [Symbol.asyncIterator]: () => events }
}
