import { expect, test } from 'vitest'
import { readTail } from '../../../../../../src/service/engine/calls/stream/tail.ts'
import { toPayload } from '../../../../../../src/shared/temporal/payload.ts'
import { STREAM_POLL } from '../../../../../../src/shared/wire/stream.ts'
import { aCall } from '../../../../call.ts'
import { scriptedContext } from '../scripted-context.ts'

const RUN = { workflowId: 'w', runId: 'r' }

const answered = (value: unknown) => ({ queryResult: { payloads: [toPayload(value)] } })

const HANDLERS = answered({
  definition: { queryDefinitions: [{ name: STREAM_POLL }], updateDefinitions: [{ name: STREAM_POLL }] },
})

const page = (offset: number, more_ready: boolean) =>
  answered({ items: [{ topic: 't', data: '', offset }], next_offset: offset + 1, more_ready })

test('tail of a stream: is queried until there is no more', async () => {
  const { context, sent } = scriptedContext(HANDLERS, page(3, true), page(4, true), page(5, false))

  const { chunks, complete } = await readTail(context, RUN, 3, aCall())

  expect(chunks.map(({ from, next }) => [from, next])).toEqual([
    [3, 4],
    [4, 5],
    [5, 6],
  ])
  expect([complete, sent.length]).toEqual([true, 4])
})

test('tail of a stream: a workflow that always says that there is more, but returns the same, is not queried for ever (threat 84)', async () => {
  const { context, sent } = scriptedContext(HANDLERS, page(3, true), page(3, true))

  const { chunks } = await readTail(context, RUN, 3, aCall({ deadlineAt: Date.now() + 1000 }))

  expect(chunks.map(({ from, next }) => [from, next])).toEqual([[3, 4]])
  expect(sent.length).toBe(3)
})
