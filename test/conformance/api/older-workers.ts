import { expect, test } from 'vitest'
import { eventsIn } from '../../support/event-stream.ts'
import { nodesIn } from '../../support/trace-nodes.ts'
import type { ApiFixture } from './api-fixture.ts'

const TRACE = { destinations: { local: '/logs/run.json', remote: 'https://traces.s3.amazonaws.com/run.json' } }

/** Workers of the older generation: their outputs are wrapped, their failures say where the trace is. */
export function olderWorkers(api: () => ApiFixture): void {
  const send = (workflowName: string, input: unknown, headers: Record<string, string> = {}) =>
    api().service.post('run', { workflowName, input, catalog: api().plainTaskQueue }, headers)

  test('older workers: run, result and events answer the output and the trace that are in the wrapper', async () => {
    const input = { output: { n: 1 }, trace: TRACE }

    const { body: ran } = await send('olderReturns', input)
    const { body: read } = await api().service.get(`${ran.workflowId}/result`)
    const { text } = await send('olderReturns', input, { Accept: 'text/event-stream' })

    expect(ran).toMatchObject({ status: 'completed', input, output: { n: 1 }, trace: TRACE, error: null })
    expect(read).toEqual(ran)
    expect(eventsIn(text)[1]).toMatchObject({ event: 'result', data: { output: { n: 1 }, trace: TRACE } })
  })

  test('older workers: a wrapper without an output is null, and a wrapper without a trace has no trace', async () => {
    const { body } = await send('olderReturns', {})

    expect(body).toMatchObject({ status: 'completed', output: null, trace: null })
  })

  test('older workers: a failure has the error of its step, and the trace that its details name', async () => {
    const { body: ran } = await send('olderFails', { trace: TRACE })
    const { body: read } = await api().service.get(`${ran.workflowId}/result`)

    expect(ran).toMatchObject({ status: 'failed', output: null, trace: TRACE, error: 'no retry please' })
    expect(ran.errorDetails).toMatchObject({ name: 'BadInput', retryable: false, activityId: '1' })
    expect(read).toEqual(ran)
  })

  test('older workers: the trace shows the outputs of the run, its steps and its children unwrapped', async () => {
    const { body: ran } = await send('parent', { child: 'olderReturns', input: { output: 7 } })
    const { body: log } = await api().service.get(`${ran.workflowId}/trace-log`)

    const outputs = nodesIn(log.data).map(({ kind, name, output }) => [kind, name, output])
    expect(outputs).toEqual([
      ['workflow', 'parent', 7],
      ['child_workflow', 'olderReturns', 7],
      ['workflow', 'olderReturns', 7],
      ['step', 'echoBack', 'of a step'],
    ])
  })
}
