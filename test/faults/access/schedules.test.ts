/** Who may do what with schedules: docs/access.md. */
import { expect } from 'vitest'
import { aSchedule, scheduleCalls } from '../../conformance/schedules.ts'
import type { Api } from '../../support/api.ts'
import { rejectionOf, testWithCallers, tokenRule } from './callers.ts'

const OLD_VERBS = [
  ...['start', 'read', 'list', 'signal', 'query', 'update', 'complete', 'repair', 'stop', 'terminate', 'pause'],
  ...['reset', 'delegate', 'link', 'metrics'],
]

const test = testWithCallers([
  tokenRule('all', { can: ['*'], ids: ['acme:*'], catalogs: ['*'] }),
  tokenRule('older', { can: OLD_VERBS, ids: ['acme:*'], catalogs: ['*'] }),
  tokenRule('keeper', { can: ['schedule', 'read'], ids: ['acme:*'], catalogs: ['*'] }),
  tokenRule('exact', { can: ['schedule', 'start'], ids: ['acme:fixed'], catalogs: ['*'] }),
  tokenRule('typed', {
    ...{ can: ['schedule', 'start', 'read', 'list'], ids: ['acme:*'], catalogs: ['*'] },
    workflows: ['nothing'],
  }),
  tokenRule('plain', { can: ['schedule', 'start', 'read'], ids: ['acme:*'], catalogs: ['*'], options: ['memo'] }),
  tokenRule('elsewhere', { can: ['schedule', 'start'], ids: ['acme:*'], catalogs: ['other'] }),
])

const idOf = (name: string) => `acme:${name}-${crypto.randomUUID()}`
const statusesOf = async (api: Api, id: string) => {
  const { put, get, remove, post, times } = scheduleCalls(api, id)
  const answers = [
    ...[await put(), await get(), await post('pause'), await post('unpause'), await post('trigger')],
    await times('2026-01-01T00:00:00Z', '2026-01-01T01:00:00Z'),
    await post('backfill', { from: '2026-01-01T00:00:00Z', until: '2026-01-01T00:30:00Z' }),
    await remove(),
  ]
  return answers.map(({ status, body }) => [status, body.error, body.action].filter((fact) => fact !== undefined))
}

test('no verb of before opens a schedule, and * opens all that is done to one', async ({
  callers: { as, operator },
}) => {
  const id = idOf('own')
  await scheduleCalls(operator, id).put(aSchedule({ paused: true }))

  const denied = [403, 'ForbiddenError', 'schedule']
  expect(await statusesOf(as('older'), id)).toEqual([
    ...[denied, [200], denied, denied, denied],
    ...[[200], denied, denied],
  ])
  expect(await statusesOf(as('all'), id)).toEqual([[200], [200], [200], [200], [202], [200], [202], [200]])
})

test('without start, a schedule that exists is paused, triggered and deleted, and none is written', async ({
  callers: { as, operator },
}) => {
  const id = idOf('kept')
  await scheduleCalls(operator, id).put(aSchedule({ paused: true }))
  expect(await statusesOf(as('keeper'), id)).toEqual([
    ...[[403, 'ForbiddenError', 'start'], [200], [200], [200], [202]],
    ...[[200], [202], [200]],
  ])
})

test('a rule must allow every id that a run can get, the options, the catalog and the workflow (threat 109)', async ({
  callers: { as },
}) => {
  const put = (rule: string, document = {}, id = idOf('new')) => scheduleCalls(as(rule), id).put(aSchedule(document))

  expect(rejectionOf(await put('exact', {}, 'acme:fixed'))).toEqual([403, 'ForbiddenError', 'start'])
  expect(rejectionOf(await put('plain', { workflowId: 'other:1' }))).toEqual([403, 'ForbiddenError', 'start'])
  // The pattern is longer than what the ids have in common.
  expect(rejectionOf(await put('plain', { workflowId: 'acme' }))).toEqual([403, 'ForbiddenError', 'start'])
  expect(rejectionOf(await put('plain', { runTimeout: '1m' }))).toEqual([403, 'ForbiddenError', 'start'])
  expect((await put('plain', { memo: { a: 1 } })).status).toBe(201)
  expect(rejectionOf(await put('elsewhere'))).toEqual([403, 'ForbiddenError', 'start'])
  expect(rejectionOf(await put('typed', { workflowName: 'echo' }))).toEqual([403, 'ForbiddenError', 'start'])
  expect(rejectionOf(await put('plain', {}, 'other:1'))).toEqual([403, 'ForbiddenError', 'schedule'])
})

test('a schedule of a workflow that is not the caller’s does not exist for it, and is not replaced', async ({
  callers: { as, operator },
}) => {
  const id = idOf('foreign')
  const own = scheduleCalls(operator, id)
  await own.put(aSchedule({ workflowName: 'echo', note: 'theirs', paused: true }))

  expect(await statusesOf(as('typed'), id)).toEqual(Array(8).fill([404, 'ScheduleNotFoundError']))
  expect((await own.get()).body).toMatchObject({ workflowName: 'echo', note: 'theirs', info: { runs: 0 } })
})

test('lists show the schedules of the caller alone, to the letter', async ({ callers: { as, operator } }) => {
  const [mine, theirs, upper] = [idOf('list'), idOf('list'), idOf('list').toUpperCase()]
  await scheduleCalls(operator, mine).put(aSchedule({ paused: true }))
  await scheduleCalls(operator, theirs).put(aSchedule({ workflowName: 'echo', paused: true }))
  await scheduleCalls(operator, upper).put(aSchedule({ paused: true }))

  const { body } = await as('typed').call('GET', '/schedules?pageSize=1000')

  const ids = body.schedules.map(({ scheduleId }: { scheduleId: string }) => scheduleId)
  expect(ids).toContain(mine)
  expect(ids.filter((id: string) => id === theirs || id === upper)).toEqual([])
})
