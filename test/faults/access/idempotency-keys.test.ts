/** The runs and messages of idempotency keys belong to their callers: threat 19 of docs/access.md. */
import { expect } from 'vitest'
import type { Api } from '../../support/api.ts'
import { hashOf, startCallers, testWithCallers, tokenRule } from './callers.ts'

const RULES = [
  tokenRule('ci', { can: ['start', 'signal', 'query'], ids: ['ci:*'] }),
  tokenRule('other', { can: ['start', 'signal'], ids: ['ci:*'] }),
]

const test = testWithCallers(RULES)

const uuid = () => crypto.randomUUID()
const keyed = (key: string) => ({ 'Idempotency-Key': key })

test('the same key of two callers starts two runs, and neither is the one of the operator (threat 19)', async ({
  callers: { as, operator },
}) => {
  const key = uuid()
  const start = (api: Api, path = 'start', more = {}) =>
    api.post(path, { workflowName: 'messages', input: null, ...more }, keyed(key))
  const apis = [as('ci'), as('other'), operator]

  const first = await Promise.all(apis.map((api) => start(api)))
  const again = await Promise.all(apis.map((api) => start(api)))

  expect(new Set(first.map(({ body }) => body.workflowId)).size).toBe(3)
  expect(first.map(({ headers }) => headers.get('Idempotency-Replayed'))).toEqual(['false', 'false', 'false'])
  expect(again.map(({ headers }) => headers.get('Idempotency-Replayed'))).toEqual(['true', 'true', 'true'])
  expect(again.map(({ body }) => body.runId)).toEqual(first.map(({ body }) => body.runId))
  // Both may use this id, but the key has started it for one of them.
  const workflowId = `ci:${uuid()}`
  const named = [await start(as('ci'), 'start', { workflowId }), await start(as('other'), 'start', { workflowId })]
  expect(named.map(({ status }) => status)).toEqual([200, 409])
})

test('the same key of two callers signals twice, and of one caller once (threat 19)', async ({ callers: { as } }) => {
  const { workflowId } = (await as('ci').start('messages', null, { workflowId: `ci:${uuid()}` })).body
  const key = uuid()

  for (const rule of ['ci', 'other', 'ci', 'other'])
    await as(rule).post(`${workflowId}/signal/add`, { payload: rule }, keyed(key))

  const { body } = await as('ci').post(`${workflowId}/query/state`)
  expect(body.gathered).toEqual(['ci', 'other'])
})

test('a new token in the same rule keeps the runs of the keys, and a new JWT too (threat 19)', async ({
  serve,
  cleanup,
  worker: _,
}) => {
  const rule = { can: ['start'], ids: ['ci:*'] }
  const users = { name: 'users', who: { jwt: 'main' }, can: ['start'], ids: ['u:{sub}:*'] }
  const { service, as, withClaims, policyOf } = await startCallers({
    serve,
    cleanup,
    rules: [tokenRule('ci', rule), users],
  })
  const key = uuid()
  const start = (api: Api) => api.post('start', { workflowName: 'nothing', input: null }, keyed(key))
  const first = [await start(as('ci')), await start(await withClaims({ jti: 'first' }))]

  service.setPolicy(policyOf({ ...tokenRule('ci', rule), who: { token: [hashOf('next')] } }, users))
  const again = [await start(as('ci', 'next')), await start(await withClaims({ jti: 'second' }))]

  expect(again.map(({ headers }) => headers.get('Idempotency-Replayed'))).toEqual(['true', 'true'])
  expect(again.map(({ body }) => body.runId)).toEqual(first.map(({ body }) => body.runId))
  expect((await start(as('ci'))).status).toBe(401)
})
