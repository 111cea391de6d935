import { expect, test } from 'vitest'
import { generalDocument } from '../../../../../src/service/openapi/general-document.ts'
import type { Workflows } from '../../../../../src/service/verbs.ts'
import { makeApi } from '../api.ts'

type Put = Parameters<Workflows['putSchedule']>[0]

const DOCUMENT = { workflowName: 'report', input: null, when: { every: [{ interval: '1h' }] } }

/** Puts a document. Returns the status, what is wrong, and what the verb gets. */
async function put(more: object = {}, headers: Record<string, string> = {}, id = 'daily') {
  const commands: Put[] = []
  const api = makeApi({
    workflows: {
      async putSchedule(command) {
        commands.push(command)
        throw new Error('the test ends here')
      },
    },
  })
  const response = await api.call('PUT', `/schedules/${id}`, { ...DOCUMENT, ...more }, headers)
  const { issues, message } = (await response.json()) as { issues?: { path: string }[]; message: string }
  return { status: response.status, paths: issues?.map(({ path }) => path), message, command: commands[0] }
}

test('a schedule: what a document leaves out has the defaults of the engine, and the id is that of its runs', async () => {
  const { command } = await put()

  expect(command).toMatchObject({ scheduleId: 'daily', precondition: {}, start: { workflowId: 'daily', args: [null] } })
  expect(command?.document).toEqual({
    ...{ when: { every: [{ interval: 3_600_000 }] }, overlap: 'skip', catchupWindowMs: 31_536_000_000 },
    ...{ pauseOnFailure: false, paused: false, note: null, remainingRuns: null, set: null },
  })
  expect((await put({ workflowId: 'other' })).command?.start.workflowId).toBe('other')
})

test.for<[more: object, path: string]>([
  [{ when: {} }, '/when'],
  [{ when: { cron: [], every: [], calendars: [] } }, '/when'],
  [{ when: { cron: ['CRON_TZ=Europe/Berlin 0 3 * * *'] } }, '/when/cron/0'],
  [{ when: { every: [{ interval: '1500ms' }] } }, '/when/every/0/interval'],
  [{ when: { every: [{ interval: '1h', offset: '1h' }] } }, '/when/every/0/offset'],
  [{ when: { calendars: [{ hours: '3' }] } }, '/when/calendars/0/hours'],
  [{ when: { ...DOCUMENT.when, from: '2026-12-01T00:00:00Z', until: '2026-12-01T00:00:00Z' } }, '/when/until'],
  [{ when: { ...DOCUMENT.when, jitter: -1 } }, '/when/jitter'],
  [{ catchupWindow: '9s' }, '/catchupWindow'],
  [{ overlap: 'BUFFER_ONE' }, '/overlap'],
  [{ remainingRuns: 0 }, '/remainingRuns'],
  [{ workflowId: 'x'.repeat(980) }, '/workflowId'],
  [{ startDelay: '1s' }, '/startDelay'],
  [{ workflowIdReusePolicy: 'reject-duplicate' }, '/workflowIdReusePolicy'],
  [{ memo: { $schedule: 1 } }, '/memo/$schedule'],
])('a schedule with %j is a 400 at %s', async ([more, path]) => {
  expect(await put(more)).toMatchObject({ status: 400, paths: [path], command: undefined })
})

test('a schedule: the versions of If-Match, quoted or not, and None-Match alone are its conditions', async () => {
  const of = async (headers: Record<string, string>) => (await put({}, headers)).command?.precondition

  expect(await of({ 'If-Match': '"AAA", "BBB"' })).toEqual({ ifMatch: ['AAA', 'BBB'] })
  expect(await of({ 'If-Match': 'AAA' })).toEqual({ ifMatch: ['AAA'] })
  expect(await of({ 'If-Match': ' * ' })).toEqual({ ifMatch: '*' })
  expect(await of({ 'If-None-Match': '*' })).toEqual({ ifNoneMatch: '*' })
  for (const headers of [{ 'If-None-Match': '"AAA"' }, { 'If-None-Match': '*', 'If-Match': '*' }])
    expect(await put({}, headers)).toMatchObject({ status: 400, command: undefined })
})

test('a schedule: times are RFC 3339, and both ends of their range are required', async () => {
  const api = makeApi({ workflows: { scheduleTimes: async () => ({ times: [new Date(0)], complete: true }) } })
  const response = await api.call('GET', '/schedules/a%2Fb/times?from=2026-12-01T00:00:00Z&until=2026-12-02T00:00:00Z')

  expect(await response.json()).toEqual({ times: ['1970-01-01T00:00:00.000Z'], complete: true })
  expect((await api.call('GET', '/schedules/daily/times')).status).toBe(400)
  const { paths } = JSON.parse(JSON.stringify(await generalDocument()))
  const inQuery = paths['/schedules/{scheduleId}/times'].get.parameters.filter(
    (one: { in?: string }) => one.in === 'query',
  )
  expect(inQuery.map(({ name, required }: Record<string, unknown>) => [name, required])).toEqual([
    ['from', true],
    ['until', true],
  ])
})
