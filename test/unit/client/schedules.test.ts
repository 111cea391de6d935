/** What the client sends about schedules; the command line, which uses it, is tested with a real service. */
import { expect, test, vi } from 'vitest'
import { clientOf, cut, ok, problem, resetBeforeEach, sent, settled } from './scripted-service.ts'

resetBeforeEach()

const DOCUMENT = { workflowName: 'report', input: null, when: { cron: ['@daily'] } }
const RANGE = { from: '2026-12-01T00:00:00Z', until: '2026-12-02T00:00:00Z' }

test('the client: sends schedules to their ids, with conditions in headers', async () => {
  const { schedules } = clientOf([ok()], { catalog: 'reports' })

  await schedules.put('a/b', DOCUMENT)
  await schedules.put('x', { ...DOCUMENT, catalog: 'own' }, { ifMatch: 'AAA', timeoutMs: 1000 })
  await schedules.put('x', DOCUMENT, { ifMatch: '*' })
  await schedules.put('x', DOCUMENT, { ifMatch: null })
  await schedules.pause('x', { reason: 'holiday', timeoutMs: 1000 })
  await schedules.times('x', { ...RANGE, timeoutMs: 1000 })
  await schedules.list({ paused: true, timeoutMs: 1000 }).page()
  await schedules.delete('x')

  const requests = sent.map(({ method, url, headers, body }) => [
    `${method} ${url.replace('http://portico.test', '')}`,
    headers.get('If-Match') ?? headers.get('If-None-Match'),
    body,
  ])
  expect(requests).toEqual([
    ['PUT /schedules/a%2Fb', null, { ...DOCUMENT, catalog: 'reports' }],
    ['PUT /schedules/x', '"AAA"', { ...DOCUMENT, catalog: 'own' }],
    ['PUT /schedules/x', '*', { ...DOCUMENT, catalog: 'reports' }],
    ['PUT /schedules/x', '*', { ...DOCUMENT, catalog: 'reports' }],
    ['POST /schedules/x/pause', null, { reason: 'holiday' }],
    ['GET /schedules/x/times?from=2026-12-01T00%3A00%3A00Z&until=2026-12-02T00%3A00%3A00Z', null, null],
    ['GET /schedules?paused=true', null, null],
    ['DELETE /schedules/x', null, null],
  ])
  expect(sent[3]?.headers.get('If-None-Match')).toBe('*')
  for (const id of ['', '.', '..']) await expect(schedules.get(id)).rejects.toThrow('is not a schedule')
})

test('the client: repeats what is done to a schedule, but not what starts runs', async () => {
  const repeated = async (act: (client: ReturnType<typeof clientOf>['schedules']) => Promise<unknown>) => {
    sent.length = 0
    const done = settled(act(clientOf([cut, ok()]).schedules))
    await vi.advanceTimersByTimeAsync(10_000)
    await done
    return sent.length
  }

  expect(await repeated((schedules) => schedules.put('x', DOCUMENT))).toBe(2)
  expect(await repeated((schedules) => schedules.delete('x'))).toBe(2)
  expect(await repeated((schedules) => schedules.pause('x'))).toBe(2)
  expect(await repeated((schedules) => schedules.unpause('x'))).toBe(2)
  expect(await repeated((schedules) => schedules.trigger('x'))).toBe(1)
  expect(await repeated((schedules) => schedules.backfill('x', RANGE))).toBe(1)
})

test('the client: an error names the schedule', async () => {
  const error = await settled(
    clientOf([problem(412, 'PreconditionFailedError', { scheduleId: 'x' })]).schedules.put('x', DOCUMENT),
  )

  expect(error).toMatchObject({ error: 'PreconditionFailedError', status: 412, scheduleId: 'x' })
})
