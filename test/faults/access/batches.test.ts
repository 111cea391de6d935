/** Who may change many runs at once: docs/access.md. */
import { expect } from 'vitest'
import { createBatch, ended, startListed } from '../../conformance/batches.ts'
import type { Api } from '../../support/api.ts'
import { rejectionOf, testWithCallers, tokenRule } from './callers.ts'

const OLD_VERBS = [
  ...['start', 'read', 'list', 'signal', 'query', 'update', 'complete', 'activity', 'repair', 'stop', 'terminate'],
  ...['pause', 'reset', 'delegate', 'link', 'schedule', 'metrics'],
]

const test = testWithCallers(
  [
    tokenRule('all', { can: ['*'], ids: ['acme:*'] }),
    tokenRule('older', { can: OLD_VERBS }),
    tokenRule('batches', { can: ['batch', 'read'] }),
    tokenRule('ends', { can: ['batch', 'terminate'], ids: ['acme:*'] }),
    // The right to create batches, and that to end runs, are for other ids.
    tokenRule('split', { can: ['batch'], ids: ['acme:*'] }),
    tokenRule('split-too', { can: ['terminate'] }, 'split-token'),
    tokenRule('typed', { can: ['batch', 'terminate'], ids: ['acme:*'], workflows: ['messages'] }),
    tokenRule('signals', { can: ['batch', 'signal:fin*'], ids: ['acme:*'] }),
  ],
  { SERVICE_AUDIT: 'effects' },
)

const idOf = (name: string) => `${name}:${crypto.randomUUID()}`

const statusOf = async (api: Api, workflowId: string) => (await api.get(`${workflowId}/status`)).body.status

test('no verb of before creates a batch, one rule must allow both, and a signal by its name', async ({
  callers: { as },
}) => {
  const filter = { query: "WorkflowId = 'nobody'" }
  const create = async (rule: string, body: object = { operation: 'terminate' }) =>
    rejectionOf(await as(rule).call('POST', '/batches', { filter, ...body }))
  const signal = (name: string) => create('signals', { operation: 'signal', signal: name })
  const denied = (action: string) => [403, 'ForbiddenError', action]

  expect(await create('older')).toEqual(denied('batch'))
  expect(rejectionOf(await as('older').call('GET', '/batches'))).toEqual(denied('batch'))
  expect(await create('batches')).toEqual(denied('terminate'))
  expect(await create('split')).toEqual(denied('terminate'))
  expect(await create('ends', { operation: 'stop' })).toEqual(denied('stop'))
  expect(await signal('add')).toEqual(denied('signal:add'))
  for (const allowed of [await create('all'), await create('ends'), await signal('finish')])
    expect(allowed).toEqual([202, undefined, undefined])
})

test('a batch changes only what its caller may change in that way, to the letter (threat 110)', async ({
  callers: { as, operator },
}) => {
  const own = idOf('acme')
  const [upper, theirs, typed] = [own.toUpperCase(), idOf('globex'), idOf('acme')]
  const filter = await startListed(operator, [own, upper, theirs])
  const ofTypes = await startListed(operator, [typed], 'messages')
  const all = { query: `${filter.query} OR ${ofTypes.query}` }

  const byType = await createBatch(as('typed'), { operation: 'terminate', filter: all })
  await ended(as('typed'), byType.body.batchId)
  const statuses = await Promise.all([own, typed].map((id) => statusOf(operator, id)))
  const byId = await createBatch(as('ends'), { operation: 'terminate', filter })
  await ended(as('ends'), byId.body.batchId)

  expect([byType.body.matching, byId.body.matching, ...statuses]).toEqual([1, 1, 'running', 'terminated'])
  expect(await Promise.all([own, upper, theirs].map((id) => statusOf(operator, id)))).toEqual([
    ...['terminated', 'running', 'running'],
  ])
})

test('a batch of another caller does not exist, operators see all, and the audit log says what was done', async ({
  callers: { as, operator, service },
}) => {
  const lines: Record<string, unknown>[] = []
  service.onLine((line) => lines.push(JSON.parse(line)))
  const filter = await startListed(operator, [idOf('acme')])
  const key = { 'Idempotency-Key': 'one' }

  const { body, headers } = await createBatch(as('ends'), { operation: 'terminate', filter }, key)
  const path = `/batches/${body.batchId}`
  await ended(as('ends'), body.batchId)
  const others = [
    ...[await as('all').call('GET', path), await as('all').call('POST', `${path}/stop`)],
    // The same key is another one.
    await as('all').call('POST', '/batches', { operation: 'stop', filter }, key),
  ]
  const listed = async (api: Api) =>
    (await api.call('GET', '/batches?pageSize=1000')).body.batches.map(({ batchId }: { batchId: string }) => batchId)

  expect(others.map((answer) => rejectionOf(answer).slice(0, 2))).toEqual([
    ...[
      [404, 'BatchNotFoundError'],
      [404, 'BatchNotFoundError'],
      [202, undefined],
    ],
  ])
  expect((await operator.call('GET', path)).body.batchId).toBe(body.batchId)
  await expect.poll(() => listed(operator)).toContain(body.batchId)
  expect(await listed(as('ends'))).toContain(body.batchId)
  expect(await listed(as('all'))).not.toContain(body.batchId)
  const stop = await as('ends').call('POST', `${path}/stop`)
  const decided = { caller: 'token:ends', rule: 'ends', action: 'batch', batchId: body.batchId }
  const logged = (headers: Headers) =>
    lines.find((line) => line.message === 'audit' && line.requestId === headers.get('X-Request-Id'))
  expect(logged(headers)).toMatchObject({ ...decided, operation: 'terminate', matching: 1, status: 202 })
  expect(logged(stop.headers)).toMatchObject({ ...decided, operation: 'stop-batch', status: 200 })
})
