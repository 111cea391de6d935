/** What `stream` of a handle takes and yields. */
import type { ContinuedRun, StreamEnd, StreamRun } from '../../service/model/stream.ts'
import type { AsJson } from '../catalog-types.ts'

export interface StreamOptions {
  /** Only the items of these topics. Default: of all. */
  topics?: readonly string[] | undefined
  /**
   * An offset; the `id` of an item, to begin after it; or `now` for items that are published from now on.
   * Default 0: all items that the workflow keeps.
   */
  from?: number | string | undefined
  /** Ends the iteration, which throws the signal's reason. The workflow keeps running. */
  signal?: AbortSignal | undefined
}

export interface StreamItem<Data = unknown> {
  /** Counts the items of all topics. */
  offset: number
  topic: string
  /** `{encoding, data}`, the data in base64, for a payload that does not hold JSON. */
  data: Data
  /** For `from`: names the item in all runs of the workflow. */
  id: string
}

export type StreamEvent<Data = unknown> =
  /** First, after each reconnect, and when the workflow cannot answer. */
  | ({ type: 'workflow' } & AsJson<StreamRun>)
  | ({ type: 'item' } & StreamItem<Data>)
  /** The items `from` to `to - 1` are lost: the workflow has dropped them, or nothing has kept them. */
  | { type: 'truncated'; from: number; to: number }
  /** The workflow continues in another run. With `reset` that has a stream of its own, whose offsets begin at 0. */
  | ({ type: 'continued' } & AsJson<ContinuedRun>)
  /** The last event. `complete` is false if no worker could say whether there were more items. */
  | ({ type: 'done' } & AsJson<StreamEnd>)

/** `for await` reads the items. It throws a `StreamTruncatedError` if items are lost. */
export interface WorkflowStream<Data = unknown> extends AsyncIterable<StreamItem<Data>> {
  /** The items, and what happens between them. Items that are lost are an event. */
  events(): AsyncIterable<StreamEvent<Data>>
}

export interface PublishedItem {
  topic: string
  data: unknown
}
