import { expect, test } from 'vitest'
import { read } from '../../../../src/engine/calls/read.ts'
import { createPayloads } from '../../../../src/engine/payloads.ts'
import { toPayload } from '../../../../src/temporal/payload.ts'
import { aCall } from '../../call.ts'
import { scriptedContext } from './scripted-context.ts'

const COMPLETED = { workflowExecutionCompletedEventAttributes: { result: { payloads: [toPayload('done')] } } }

test('read: the latest run that continues as new while it is read is not taken for the end', async () => {
  const { context, sent } = scriptedContext(
    page('r1', continuedAs('r2')),
    page('r2', continuedAs('r3')),
    page('r3', COMPLETED),
  )

  const execution = await read(context, { workflowId: 'w' }, aCall())

  expect(execution).toMatchObject({ runId: 'r3', status: 'completed', closing: { outcome: { output: 'done' } } })
  expect(sent.map(({ runId }) => runId)).toEqual(['', 'r2', 'r3'])
})

test('read: a failed attempt that the engine repeats meanwhile is not taken for the end', async () => {
  const failed = { workflowExecutionFailedEventAttributes: { newExecutionRunId: 'r2', failure: { message: 'no' } } }
  const { context } = scriptedContext(page('r1', failed), page('r2', COMPLETED))

  expect(await read(context, { workflowId: 'w' }, aCall())).toMatchObject({ runId: 'r2', status: 'completed' })
})

test('read: a pinned run is read as it is', async () => {
  const { context, sent } = scriptedContext(page('r1', continuedAs('r2')))

  expect(await read(context, { workflowId: 'w', runId: 'r1' }, aCall())).toMatchObject({
    runId: 'r1',
    status: 'continued',
  })
  expect(sent).toHaveLength(1)
})

test('read: a codec is asked for the input and the output at once', async () => {
  const encoded = { metadata: { encoding: new TextEncoder().encode('binary/encrypted') } }
  const started = {
    workflowExecutionStartedEventAttributes: { originalExecutionRunId: 'r1', input: { payloads: [encoded] } },
  }
  const completed = { workflowExecutionCompletedEventAttributes: { result: { payloads: [encoded] } } }
  const { context } = scriptedContext({ history: { events: [started, completed] } })
  const bothAsked = Promise.withResolvers<void>()
  let asked = 0
  const codec = {
    encode: async () => [],
    async decode() {
      if (++asked === 2) bothAsked.resolve()
      await bothAsked.promise
      return [toPayload('plain')]
    },
  }

  const execution = await read(
    { ...context, payloads: createPayloads({ codec, maxBytes: 1000 }) },
    { workflowId: 'w' },
    aCall(),
  )

  expect(execution).toMatchObject({ input: 'plain', closing: { outcome: { output: 'plain' } } })
})

function page(runId: string, last: object) {
  const started = {
    workflowExecutionStartedEventAttributes: { originalExecutionRunId: runId, workflowType: { name: 'laps' } },
  }
  return { history: { events: [started, last] } }
}

function continuedAs(newExecutionRunId: string) {
  return { workflowExecutionContinuedAsNewEventAttributes: { newExecutionRunId } }
}
