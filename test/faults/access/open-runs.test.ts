/** Starts that meet an open run: it must be of a granted workflow, also for an access token (threats 20 and 31). */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Api } from '../../support/api.ts'
import { historyLengthOf, rejectionOf, testWithCallers, tokenRule } from './callers.ts'

const RULES = [
  tokenRule('all', { can: ['*'], ids: ['r:*'], options: ['*'] }),
  tokenRule('rule', { can: ['*'], ids: ['r:*'], workflows: ['echo', 'messages'], options: ['*'] }),
  tokenRule('no-ids', { can: ['*'], workflows: ['messages'], options: ['*'] }),
  tokenRule('two', { can: ['*'], workflows: ['messages'], ids: ['r:*'], options: ['*'] }),
  // The same caller: it may start anything, but not with the options of the other rule.
  tokenRule('two-starts', { can: ['start'], ids: ['r:*'] }, 'two-token'),
  tokenRule('no-options', { can: ['start', 'signal', 'delegate'], ids: ['r:*'] }),
]

const test = testWithCallers(RULES)

const newId = () => `r:${crypto.randomUUID()}`
const SCOPE = { can: ['start', 'read', 'signal', 'update', 'terminate'], options: ['workflowIdConflictPolicy'] }

/** Every request that can meet the open run of the id. */
function meeting(workflowId: string, workflowName = 'messages'): [string, object][] {
  const request = { workflowName, input: 'other input', workflowId }
  const policies = ['use-existing', 'terminate-existing'].flatMap((workflowIdConflictPolicy): [string, object][] => [
    ['start', { ...request, workflowIdConflictPolicy }],
    ['run', { ...request, workflowIdConflictPolicy, timeout: '1s' }],
  ])
  return [
    ...policies,
    ['signal-with-start/add', { ...request, payload: 'intruder' }],
    ['update-with-start/set', { ...request, payload: 'intruder' }],
    ['update-with-start/set', { ...request, payload: 'intruder', workflowIdConflictPolicy: 'use-existing' }],
  ]
}

test('a run of another workflow is neither returned, signaled nor terminated by any start (threat 20)', async ({
  callers: { as, operator },
  client,
}) => {
  const workflowId = newId()
  const { runId } = (await operator.start('waitForSignal', 'secret', { workflowId })).body
  const before = await historyLengthOf(client, workflowId)
  const narrowed = async (api: Api, scope: object = {}) => {
    const { body } = await api.call('POST', '/tokens', { ...SCOPE, workflows: ['messages'], ...scope })
    return as('', body.token)
  }
  const callers = [
    as('rule'),
    as('no-ids'),
    as('two'),
    await narrowed(as('all')),
    await narrowed(as('rule')),
    await narrowed(as('no-ids'), { ids: ['r:*'] }),
    await narrowed(operator),
    await narrowed(operator, { ids: ['r:*'] }),
  ]

  const keys = [{}, { 'Idempotency-Key': crypto.randomUUID() }]
  const denied = await Promise.all(
    callers.flatMap((api) =>
      meeting(workflowId).flatMap(([path, body]) =>
        keys.map(async (headers) => {
          const answer = await api.post(path, body, headers)
          return { ...answer, request: `${path} ${JSON.stringify(body)} ${JSON.stringify(headers)}` }
        }),
      ),
    ),
  )

  const keyedTermination = /terminate-existing.*Idempotency-Key/
  const wrong = denied.filter(
    ({ status, request }) => status !== 403 && !(keyedTermination.test(request) && status === 400),
  )
  expect(wrong.map(({ request, text }) => `${request}: ${text}`)).toEqual([])
  expect(denied.filter(({ text }) => text.includes(runId) || text.includes('waitForSignal'))).toEqual([])
  expect(await historyLengthOf(client, workflowId)).toBe(before)
  expect((await operator.get(`${workflowId}/status`)).body.status).toBe('running')
})

test('a run of a granted workflow is met: returned, signaled, updated and terminated (threat 20)', async ({
  callers: { as, operator },
}) => {
  const token = (await as('all').call('POST', '/tokens', { ...SCOPE, workflows: ['messages', 'echo'] })).body.token
  for (const api of [as('rule'), as('', token)]) {
    const workflowId = newId()
    const { runId } = (await operator.start('messages', 'first', { workflowId })).body
    const request = { workflowName: 'messages', input: null, workflowId }
    const found = await api.post('start', { ...request, workflowIdConflictPolicy: 'use-existing' })
    const signaled = await api.post('signal-with-start/add', { ...request, payload: 1 })
    const updated = await api.post('update-with-start/set', { ...request, payload: 2 })
    const replaced = await api.post('start', { ...request, workflowIdConflictPolicy: 'terminate-existing' })
    const state = await operator.get(`${workflowId}/runs/${runId}/status`)

    expect([found.body, signaled.body]).toMatchObject([{ runId }, { runId, started: false }])
    expect(updated.body).toMatchObject({ runId, started: false, result: { before: null, after: 2 } })
    expect([replaced.status, state.body.status]).toEqual([200, 'terminated'])
    await operator.post(`${workflowId}/terminate`)
  }
})

test('without an open run, both with-starts start one and send it the message, once for each key (threat 20)', async ({
  callers: { as, operator },
}) => {
  for (const path of ['signal-with-start/add', 'update-with-start/set']) {
    const workflowId = newId()
    const request = { workflowName: 'messages', input: null, workflowId, payload: 7 }
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const answers = [await as('rule').post(path, request, headers), await as('rule').post(path, request, headers)]
    const { runId } = answers[0]?.body ?? {}
    const state = (await operator.post(`${workflowId}/query/state`)).body

    expect(answers.map(({ body }) => body)).toMatchObject([
      { runId, started: true },
      { runId, started: true },
    ])
    expect([state.gathered, state.value]).toEqual(path.startsWith('signal') ? [[7], null] : [[], 7])
    await operator.post(`${workflowId}/terminate`)
  }
})

test('two starts of the same id at once meet each other', async ({ callers: { as, operator } }) => {
  const workflowId = newId()
  const request = { workflowName: 'messages', input: null, workflowId }

  const answers = await Promise.all(
    [1, 2, 3].map((payload) => as('rule').post('signal-with-start/add', { ...request, payload })),
  )
  const gathered = await until('all signals are handled', async () => {
    const state = (await operator.post(`${workflowId}/query/state`)).body
    return state.gathered.length === 3 ? state.gathered : null
  })

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(answers.filter(({ body }) => body.started)).toHaveLength(1)
  expect(gathered.toSorted()).toEqual([1, 2, 3])
})

test('an access token has the options that it names, and no others, of its creator (threat 31)', async ({
  callers: { as, operator },
}) => {
  const create = (api: Api, options?: string[]) =>
    api.call('POST', '/tokens', { can: ['start', 'signal'], ...(options && { options }) })
  const start = async (token: string, more: object) =>
    (await as('', token).start('echo', 1, { workflowId: newId(), ...more })).status
  const memo = { memo: { a: 1 } }
  const plain = [await create(operator), await create(as('all')), await create(operator, ['memo'])]

  const statuses = await Promise.all(plain.map(({ body }) => start(body.token, memo)))
  const headers = await start(plain[2]?.body.token, { headers: { user: 'root' } })
  const wider = await create(as('no-options'), ['memo'])

  expect([statuses, headers]).toEqual([[403, 403, 200], 403])
  expect(rejectionOf(wider)).toEqual([403, 'ForbiddenError', 'delegate'])
})
