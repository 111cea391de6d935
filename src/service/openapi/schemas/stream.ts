/** What the stream of a run looks like. */

import {
  any,
  array,
  boolean,
  described,
  enumOf,
  integer,
  object,
  orNull,
  ref,
  string,
  time,
} from '../../http/openapi/schema.ts'
import type { ContinuedRun, StreamBatch, StreamEnd, StreamItem, StreamRun } from '../../model/stream.ts'
import { runIds } from './workflow-result.ts'

const end = {
  status: ref('Status'),
  completedAt: orNull(time),
  complete: described(boolean, 'False if no worker could say whether there were more items'),
}

const item = {
  offset: described(integer, 'Counts the items of all topics'),
  topic: string,
  data: described(any, '`{encoding, data}`, the data in base64, for a payload that does not hold JSON'),
}

export const streamSchemas = {
  StreamItem: object<StreamItem>(item),
  StreamBatchItem: object<StreamBatch['items'][number]>(
    { ...item, runId: described(string, 'Only of an item of an earlier run') },
    { optional: ['runId'] },
  ),
  StreamRun: object<StreamRun>(
    {
      ...runIds,
      status: ref('Status'),
      from: described({ anyOf: [integer, enumOf(['now'])] }, 'The offset with which the reader begins'),
      problem: described(ref('WorkflowTaskProblem'), 'Why the workflow makes no progress'),
    },
    { optional: ['problem'] },
  ),
  TruncatedItems: object<{ from: number; to: number }>(
    { from: integer, to: integer },
    { description: 'The items `from` to `to - 1` are lost: the workflow has dropped them, or nothing has kept them' },
  ),
  ContinuedRun: object<ContinuedRun>(
    {
      ...runIds,
      continuedFrom: described(string, 'Id of the previous run'),
      reset: described(boolean, 'Set if the new run has begun a stream of its own: offsets begin at 0'),
    },
    { optional: ['reset'] },
  ),
  StreamEnd: object<StreamEnd>({
    ...runIds,
    ...end,
    next: described(integer, 'The offset after the last item'),
  }),
  StreamBatch: object<StreamBatch>({
    ...runIds,
    status: ref('Status'),
    items: array(ref('StreamBatchItem')),
    next: described(orNull(string), '`from` of the next request; null with `done`'),
    truncated: orNull(ref('TruncatedItems')),
    done: described(orNull(object<NonNullable<StreamBatch['done']>>(end)), 'How the run ended, after its last item'),
  }),
}
