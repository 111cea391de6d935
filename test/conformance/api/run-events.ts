import { expect, test } from 'vitest'
import { eventsIn } from '../../support/event-stream.ts'
import { type ApiFixture, anId } from './api-fixture.ts'

const EVENTS = { Accept: 'text/event-stream' }

/** `run` as server-sent events. */
export function runEvents(api: () => ApiFixture): void {
  const run = async (body: object) => {
    const { status, headers, text } = await api().service.post('run', body, EVENTS)
    return { status, type: headers.get('Content-Type'), events: eventsIn(text) }
  }

  test('run as events: the ids come first, then the same result as from run', async () => {
    const workflowId = anId()

    const { status, type, events } = await run({ workflowName: 'echo', input: 1, workflowId })

    const runId = events[0]?.data.runId
    expect([status, type]).toEqual([200, 'text/event-stream'])
    expect(events).toEqual([
      { id: `${workflowId}/${runId}`, event: 'started', data: { workflowId, runId } },
      {
        id: `${workflowId}/${runId}@end`,
        event: 'result',
        data: {
          workflowId,
          runId,
          status: 'completed',
          input: 1,
          output: 1,
          trace: null,
          error: null,
          errorDetails: null,
        },
      },
    ])
  })

  test('run as events: a run that outlives its timeout ends with the same error as from run', async () => {
    const { events } = await run({ workflowName: 'neverEnds', input: null, timeout: 300 })

    const [started, timeout] = events
    expect(timeout).toMatchObject({
      id: started?.id,
      event: 'timeout',
      data: { status: 424, error: 'WorkflowExecutionTimedOutError', workflowStatus: 'running', ...started?.data },
    })
    await api().service.post(`${started?.data.workflowId}/terminate`)
  })

  test('run as events: a rejection is an answer like any other', async () => {
    const { status, body, headers } = await api().service.post('run', { workflowName: 'echo' }, EVENTS)

    const facts = [status, body.error, headers.get('Content-Type')]
    expect(facts).toEqual([400, 'ValidationError', 'application/problem+json'])
  })
}
