/** What batches look like. */
import {
  array,
  boolean,
  described,
  enumOf,
  integer,
  object,
  orNull,
  type Schema,
  string,
  time,
} from '../../http/openapi/schema.ts'
import { BATCH_OPERATIONS, BATCH_STATES, type Batch, type BatchPage, type ListedBatch } from '../../model/batch.ts'
import type { CreatedBatch } from '../../model/commands.ts'

const operation = enumOf(BATCH_OPERATIONS)
const matching = described(integer, 'How many runs it was created for')

const listed = {
  batchId: string,
  operation,
  state: described(enumOf(BATCH_STATES), '`failed` also if it was stopped'),
  startedAt: orNull(time),
  closedAt: orNull(time),
}

export const batchSchemas = {
  CreatedBatch: object<Omit<CreatedBatch, 'isRepeated'>>({
    batchId: described(orNull(string), 'Null if no run matches: then there is no batch'),
    operation,
    matching,
  }),
  Batch: object<Batch>({
    ...listed,
    matching,
    processed: described(orNull(integer), 'How many runs were handled, also closed ones; null unless it has completed'),
    reason: string,
  }),
  BatchPage: object<BatchPage>({
    batches: described(array(object<ListedBatch>(listed)), 'May be empty before the last page'),
    nextPageToken: described(orNull(string), '`pageToken` of the next page; null after the last one'),
  }),
  StoppedBatch: object<{ batchId: string; stopped: boolean }>({
    batchId: string,
    stopped: described(boolean, 'False if it had ended before'),
  }),
} satisfies Record<string, Schema>
