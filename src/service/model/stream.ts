/** The items that a running workflow publishes, in the order of their offsets. */
import type { Status } from '../../shared/wire/execution.ts'
import type { Position } from '../../shared/wire/position.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import type { Call } from './call.ts'
import type { ServiceError } from './errors.ts'
import type { ExecutionRef } from './execution.ts'
import type { Problem } from './problem.ts'

export interface StreamItem {
  /** Counts the items of all topics. */
  offset: number
  topic: string
  /** `{encoding, data}`, the data in base64, for a payload that does not hold JSON. */
  data: unknown
}

/** Where to begin: with an offset, after an item that was read, or with items that are published from now on. */
export type StreamStart = number | Position | 'now'

export interface FollowStreamCommand {
  ref: ExecutionRef
  from: StreamStart
  /** Only the items of these topics; empty for all. */
  topics: readonly string[]
  /** Whether to continue with the next run of the chain. */
  followsChain: boolean
}

export interface ReadStreamCommand extends FollowStreamCommand {
  /** How long to wait for the first item. */
  waitMs: number
  maxItems: number
}

export interface PublishCommand {
  ref: ExecutionRef
  items: readonly { topic: string; data: unknown }[]
  /** The items are published once for each key. */
  idempotencyKey?: string
}

export type FeedEvent =
  | { type: 'workflow'; workflow: StreamRun }
  /** The workflow cannot answer at the moment. */
  | { type: 'obstacle'; workflow: StreamRun; error: ServiceError }
  /**
   * Everything so far was read, and the workflow is known to have a stream: once for each run. `head` asks the workflow
   * for the offset after its last item, and rejects like a query.
   */
  | { type: 'live'; next: number; runId: string; head(call: Call): Promise<number> }
  /** The items after the previous ones, and the offset that follows. Readers may share the array. */
  | { type: 'items'; runId: string; items: readonly StreamItem[]; next: number }
  /** The items `from` to `to - 1` are lost: the workflow has dropped them, or nothing has kept them. */
  | { type: 'truncated'; runId: string; from: number; to: number }
  /** The reader continues with the next run, at the offset `from`. */
  | { type: 'continued'; continued: ContinuedRun; from: number }
  /** Always the last event. */
  | { type: 'done'; done: StreamEnd }

export interface StreamRun extends RunRef {
  status: Status
  /** The offset with which the reader begins. */
  from: number | 'now'
  /** Why the workflow makes no progress. */
  problem?: Problem
}

export interface ContinuedRun extends RunRef {
  continuedFrom: string
  /** Set if the new run has begun a stream of its own: offsets begin at 0. */
  reset?: true
}

export interface StreamEnd extends RunRef {
  status: Status
  completedAt: Date | null
  /** The offset after the last item. */
  next: number
  /** False if no worker could say whether there were more items. */
  complete: boolean
}

export interface StreamFeed {
  /** Begins with `workflow`. Ends after `done`, or when the call is aborted. */
  events: AsyncIterable<FeedEvent>
}

/** What a client gets that does not read events. */
export interface StreamBatch extends RunRef {
  status: Status
  items: (StreamItem & { runId?: string })[]
  /** The position to continue from; null with `done`. */
  next: string | null
  truncated: { from: number; to: number } | null
  done: Pick<StreamEnd, 'completedAt' | 'complete' | 'status'> | null
}

/** How the run of a stream ended. */
export interface RunEnd {
  status: Status
  completedAt: Date | null
  /** The next run of the chain, and the offset from which its stream continues; null for the last one. */
  next: { runId: string; from: number; isReset: boolean } | null
  /** False if no worker could say whether there were more items. */
  complete: boolean
}

/** What a reader of one run gets next. */
export type RunStreamEvent =
  | Extract<FeedEvent, { type: 'items' | 'live' | 'truncated' }>
  /** Why the workflow cannot answer at the moment. The reader continues to wait. */
  | { type: 'obstacle'; error: ServiceError }
  /** Always the last one. `next` is the offset after the last item. */
  | { type: 'end'; next: number; end: RunEnd }

/** Reads the stream of one run. Readers of the same run share their engine calls. */
export interface StreamReader {
  /**
   * The next event; null if `call` is over first. At its deadline, the end of a run that is closed, whose stream no
   * worker has confirmed. Rejects with `StreamNotFoundError` for a workflow without a stream,
   * and with other errors after which there is nothing to read.
   */
  next(call: Call): Promise<RunStreamEvent | null>
  close(): void
}
