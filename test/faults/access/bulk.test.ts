/** The lines of a bulk are decided and recorded one by one: docs/api/bulk.md. */
import { expect } from 'vitest'
import type { Api } from '../../support/api.ts'
import { bulkOf } from '../../support/bulk.ts'
import { testWithCallers, tokenRule } from './callers.ts'

const test = testWithCallers(
  [
    tokenRule('ops', { can: ['start', 'signal:add', 'stop', 'delegate'], ids: ['acme:*'], catalogs: ['*'] }),
    tokenRule('other', { can: ['*'], ids: ['other:*'], catalogs: ['*'] }),
    tokenRule('scrapes', { can: ['metrics'] }),
    tokenRule('slow', { can: ['stop'], ids: ['acme:*'], limits: { perSecond: 0.001, burst: 3 } }),
  ],
  { SERVICE_AUDIT: 'effects' },
)

/** One line of each operation about a run of `ops`. */
function linesAbout(run: string) {
  const started = { workflowName: 'messages', input: null, workflowId: `acme:${crypto.randomUUID()}` }
  return [
    { ...started, workflowId: `${started.workflowId}-1` },
    { op: 'signal', workflowId: run, name: 'add', payload: 1 },
    { op: 'signal', workflowId: run, name: 'finish' },
    { op: 'signal-with-start', ...started, name: 'add', payload: 1 },
    { op: 'stop', workflowId: run },
    { op: 'terminate', workflowId: run },
  ]
}

const statusesOf = async (api: Api, lines: readonly object[]) =>
  (await bulkOf(api, lines)).answers.map(({ status, body }) => (body.action === undefined ? status : body.action))

test('a rule, a narrowed token and the tenant decide each line of a bulk as its single request (threats 15, 16)', async ({
  callers: { as, operator },
}) => {
  const { token } = (await as('ops').call('POST', '/tokens', { can: ['signal:add'] })).body
  async function decisionsOf(api: Api) {
    const run = `acme:${crypto.randomUUID()}`
    await operator.start('messages', null, { workflowId: run })
    const { answers } = await bulkOf(api, linesAbout(run))
    await operator.post(`${run}/terminate`)
    return answers.map(({ status, body }) => body.action ?? (status === 403 || status))
  }
  const none = ['start', 'signal:add', 'signal:finish', 'start', 'stop', 'terminate']

  // A line after the stop or the termination may find the run closed.
  const isDone = expect.toBeOneOf([200, 409])
  expect(await decisionsOf(as('ops'))).toEqual([200, isDone, 'signal:finish', 200, 200, 'terminate'])
  expect(await decisionsOf(as('', token))).toEqual(['start', 200, 'signal:finish', 'start', 'stop', 'terminate'])
  expect(await decisionsOf(as('other'))).toEqual(none)
  expect(await decisionsOf(as('scrapes'))).toEqual(none.map((action) => action.split(':')[0]))
  expect(await decisionsOf(operator)).toEqual([200, isDone, isDone, 200, 200, isDone])
})

test('each effect and each denial of a bulk is one audit line, and the bulk itself none (threat 27)', async ({
  callers: { as, operator, service },
}) => {
  const run = `acme:${crypto.randomUUID()}`
  await operator.start('messages', null, { workflowId: run })
  const audited: object[] = []
  service.onLine((line) => {
    const { message, requestId, caller, rule, action, status } = JSON.parse(line)
    if (message === 'audit') audited.push({ requestId, caller, rule, action, status })
  })

  const { requestId } = await bulkOf(as('ops'), linesAbout(run))

  const line = (index: number, action: string, status = 200) => ({
    ...{ requestId: `${requestId}.${index}`, caller: 'token:ops', action, status },
    rule: status === 403 ? 'none' : 'ops',
  })
  expect(new Set(audited)).toEqual(
    new Set([
      ...[line(0, 'start'), line(1, 'signal:add'), line(2, 'signal:finish', 403), line(3, 'start')],
      ...[line(3, 'signal:add'), line(4, 'stop'), line(5, 'terminate', 403)],
    ]),
  )
  expect(audited.length).toBe(7)
  await operator.post(`${run}/terminate`)
})

test('a policy that is replaced during a bulk decides its later lines, and each line counts for its caller (threats 6, 29)', async ({
  startCallers,
}) => {
  const { as, service, policyOf } = await startCallers()
  const stop = { op: 'stop', workflowId: `acme:${crypto.randomUUID()}` }

  const limited = await statusesOf(as('slow'), [stop, stop, stop, stop])
  service.setPolicy(policyOf(tokenRule('ops', { can: ['read'], ids: ['acme:*'] })))
  const narrowed = await statusesOf(as('ops'), [stop])

  // The bulk is one request, and each line another.
  expect(limited).toEqual([404, 404, 429, 429])
  expect(narrowed).toEqual(['stop'])
})
