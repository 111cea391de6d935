import { expect, test } from 'vitest'
import { read } from '../../../../../src/service/engine/calls/read.ts'
import { createPayloads } from '../../../../../src/service/engine/context.ts'
import { toPayload } from '../../../../../src/shared/temporal/payload.ts'
import { aCall } from '../../../call.ts'
import { scriptedContext } from './scripted-context.ts'

const COMPLETED = { workflowExecutionCompletedEventAttributes: { result: { payloads: [toPayload('done')] } } }

test('read: follows the latest run if it continues as new meanwhile', async () => {
  const { context, sent } = scriptedContext(
    page('r1', continuedAs('r2')),
    page('r2', continuedAs('r3')),
    page('r3', COMPLETED),
  )

  const execution = await read(context, { workflowId: 'w' }, aCall())

  expect(execution).toMatchObject({ runId: 'r3', status: 'completed', closing: { outcome: { output: 'done' } } })
  expect(sent.map(({ runId }) => runId)).toEqual(['', 'r2', 'r3'])
})

test('read: follows a failed run that the engine retries meanwhile', async () => {
  const failed = { workflowExecutionFailedEventAttributes: { newExecutionRunId: 'r2', failure: { message: 'no' } } }
  const { context } = scriptedContext(page('r1', failed), page('r2', COMPLETED))

  expect(await read(context, { workflowId: 'w' }, aCall())).toMatchObject({ runId: 'r2', status: 'completed' })
})

test('read: does not follow a pinned run', async () => {
  const { context, sent } = scriptedContext(page('r1', continuedAs('r2')))

  expect(await read(context, { workflowId: 'w', runId: 'r1' }, aCall())).toMatchObject({
    runId: 'r1',
    status: 'continued',
  })
  expect(sent).toHaveLength(1)
})

test.for([
  ['no call', 'running', [{ eventType: 9 }], 1],
  ['a description', 'of a run that was paused', [{ eventType: 58 }, { eventType: 59 }], 2],
  ['a description', 'with an event that is newer than this service', [{ eventType: 60 }], 2],
  ['a description', 'with an event whose type HTTP could not map', [{ eventType: 0 }], 2],
  ['a description', 'with an event without a type', [{}], 2],
] as const)('read: a whole history needs %s more if it is %s', async ([, , events, calls]) => {
  const [started] = page('r1', {}).history.events
  const description = { workflowExecutionInfo: { execution: { workflowId: 'w', runId: 'r1' }, status: 8 } }
  const { context, sent } = scriptedContext(
    { history: { events: [{ ...started, eventType: 1 }, ...events] } },
    description,
  )

  const execution = await read(context, { workflowId: 'w' }, aCall())

  expect(execution).toMatchObject({ runId: 'r1', status: calls === 1 ? 'running' : 'paused', closing: null })
  expect(sent).toHaveLength(calls)
})

test('read: decodes input and output in parallel', async () => {
  const encoded = { metadata: { encoding: new TextEncoder().encode('binary/encrypted') } }
  const started = {
    workflowExecutionStartedEventAttributes: { originalExecutionRunId: 'r1', input: { payloads: [encoded] } },
  }
  const completed = { workflowExecutionCompletedEventAttributes: { result: { payloads: [encoded] } } }
  const { context } = scriptedContext({ history: { events: [started, completed] } })
  const bothStarted = Promise.withResolvers<void>()
  let decodes = 0
  const codec = {
    encode: async () => [],
    async decode() {
      if (++decodes === 2) bothStarted.resolve()
      await bothStarted.promise
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
