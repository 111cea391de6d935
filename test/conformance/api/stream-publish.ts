import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { rule } from '../../support/rules.ts'
import { type ApiFixture, anId } from './api-fixture.ts'
import { streamApi } from './stream-api.ts'

/** What POST stream does. */
export function streamPublish(api: () => ApiFixture): void {
  const { post, signal, json, startStream } = streamApi(api)

  rule('stream.publishes-once-for-each-key', async () => {
    const { workflowId, runId } = await startStream()
    const key = { 'Idempotency-Key': anId() }

    const first = await post(workflowId, { topic: 't', data: 1 }, key)
    const again = await post(`${workflowId}/runs/${runId}`, { topic: 't', data: 1 }, key)
    await signal(workflowId, 'continueAsNew')
    await until('the run has continued', async () => {
      const { body } = await api().service.get(`${workflowId}/status`)
      return body.runId !== first.body.runId
    })
    const later = await post(workflowId, { topic: 't', data: 1 }, key)
    await post(workflowId, { topic: 't', data: 2 })

    expect([first.status, again.body, later.status]).toEqual([202, first.body, 202])
    expect((await json(workflowId)).body.items.map(({ data }: { data: unknown }) => data)).toEqual([1, 2])
    await signal(workflowId, 'finish')
  })
}
