import { expect, test } from 'vitest'
import { problemOf } from '../../support/event-stream.ts'
import { rule } from '../../support/rules.ts'
import { type ApiFixture, anId, startDirectly } from './api-fixture.ts'
import { streamApi } from './stream-api.ts'

/** Streams that cannot be read or published to. */
export function streamErrors(api: () => ApiFixture): void {
  const { post, signal, json, open, pathOf, startStream } = streamApi(api)

  rule('stream.workflows-without-one-receive-nothing', async () => {
    const { body } = await api().service.start('defaultHandlers')
    const { workflowId, runId } = body

    const events = await api().service.call('GET', pathOf(workflowId))
    const items = await json(workflowId)
    const published = await post(workflowId, { topic: 't', data: 1 })
    await signal(workflowId, 'finish')
    const { body: result } = await api().service.get(`${workflowId}/result?wait=30s`)

    for (const problem of [problemOf(events), items.body, published.body])
      expect(problem).toMatchObject({ status: 404, error: 'StreamNotFoundError', workflowId, runId })
    expect(result.output).toEqual(['finish'])
  })

  test('stream: rejects what is not valid', async () => {
    const { workflowId } = await startStream()
    const unknown = anId()

    const answers = [
      await json(workflowId, '?from=yesterday'),
      await json(workflowId, '?from=-1'),
      await json(workflowId, '?topic='),
      await json(workflowId, '?limit=0'),
      await json(workflowId, '?wait=61s'),
      await json(workflowId, '?offset=3'),
      await api().service.call('GET', pathOf(workflowId, '?wait=1s')),
      await api().service.call('GET', pathOf(workflowId), undefined, { 'Last-Event-ID': 'x' }),
      await json('$catalog:orders'),
      await json(`${workflowId}/runs/${crypto.randomUUID()}`),
      await api().service.call('GET', pathOf(workflowId), undefined, { 'Last-Event-ID': `${crypto.randomUUID()}@0` }),
      await json(unknown),
      await post(unknown, { topic: 't', data: 1 }),
      await post(workflowId, { data: 1 }),
      await post(workflowId, { items: [] }),
    ]

    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      ...Array.from({ length: 9 }, () => [400, 'ValidationError']),
      ...Array.from({ length: 4 }, () => [404, 'WorkflowNotFoundError']),
      ...Array.from({ length: 2 }, () => [400, 'ValidationError']),
    ])
    await signal(workflowId, 'finish')
  })

  test('stream: of a workflow without a worker waits as events, and is a 504 as JSON', async () => {
    const { workflowId } = await startDirectly(api(), 'streamSignals', { taskQueue: anId() })

    const stream = await open(workflowId)
    const workflow = await stream.next('workflow')
    const items = await json(workflowId)
    const published = await post(workflowId, { topic: 't', data: 1 })

    expect(workflow.data).toMatchObject({ workflowId, status: 'running', from: 0 })
    expect([items.status, items.body.error, published.status]).toEqual([504, 'DeadlineExceededError', 504])
    stream.cut()
  })
}
