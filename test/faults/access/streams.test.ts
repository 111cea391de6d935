/** What callers learn about the streams of others: threats 16, 18 and 22 of docs/access.md. */
import { expect } from 'vitest'
import type { Api } from '../../support/api.ts'
import { bytesOf } from './callers.ts'
import { newId, startRun, test } from './tenants.ts'

const JSON_ONLY = { Accept: 'application/json' }

test('the stream of an earlier run of another workflow stays hidden, also from a reader that says it has read all (threats 18, 22)', async ({
  callers: { as, operator },
}) => {
  const workflowId = `order-${crypto.randomUUID()}`
  const hidden = await startRun(operator, 'streamSignals', workflowId, {})
  await operator.post(`${workflowId}/stream`, { topic: 't', data: 'secret' })
  await operator.post(`${workflowId}/signal/finish`)
  await operator.get(`${workflowId}/result?wait=60s`)
  await startRun(operator, 'messages', workflowId)
  const readAll = async (api: Api, runId: string) => {
    const positions = [`${runId}`, `${runId}@0`, `${runId}@end`]
    const paths = [`${workflowId}/stream`, `${workflowId}/runs/${runId}/stream`]
    const answers = await Promise.all([
      ...positions.flatMap((id) => paths.map((path) => api.get(path, { 'Last-Event-ID': id }))),
      ...positions.slice(0, 2).map((id) => api.get(`${workflowId}/stream?from=${encodeURIComponent(id)}`, JSON_ONLY)),
      ...paths.slice(1).map((path) => api.get(path, JSON_ONLY)),
    ])
    return answers.map((answer) => JSON.parse(JSON.stringify(bytesOf(answer)).replaceAll(runId, '<run id>')))
  }

  const ofHidden = await readAll(as('desk'), hidden.runId)
  const ofUnknown = await readAll(as('desk'), crypto.randomUUID())
  const ofOperator = await readAll(operator, hidden.runId)

  expect(ofHidden).toEqual(ofUnknown)
  expect(ofHidden.map(([status]) => status)).toEqual(ofHidden.map(() => 404))
  expect(new Set(ofOperator.map(([status]) => status))).toEqual(new Set([200, 204]))
  expect(JSON.stringify(ofOperator)).toContain('secret')
})

test('the stream of another tenant can neither be read nor published to, whatever is sent along (threat 16)', async ({
  callers: { as, operator },
}) => {
  const { workflowId, runId } = await startRun(operator, 'streamSignals', newId('globex'), {})
  const acme = as('acme')

  const denied = [
    await acme.get(`${workflowId}/stream`),
    await acme.get(`${workflowId}/stream`, JSON_ONLY),
    await acme.call('HEAD', `/workflow/${workflowId}/stream`),
    await acme.get(`${workflowId}/stream`, { 'Last-Event-ID': `${runId}@end` }),
    await acme.get(`${workflowId}/runs/${runId}/stream?from=now`),
    await acme.post(`${workflowId}/stream`, { topic: 't', data: 'from acme' }),
    await acme.post(
      `${workflowId}/runs/${runId}/stream`,
      { topic: 't', data: 'from acme' },
      { 'Idempotency-Key': 'k' },
    ),
  ]
  const published = await as('globex').post(`${workflowId}/stream`, { topic: 't', data: 'own' })
  const { body } = await as('globex').get(`${workflowId}/stream`, JSON_ONLY)
  await operator.post(`${workflowId}/signal/finish`)

  expect(denied.map(({ status }) => status)).toEqual(denied.map(() => 403))
  expect(published.status).toBe(202)
  expect(body.items.map(({ data }: { data: unknown }) => data)).toEqual(['own'])
})
