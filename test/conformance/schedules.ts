/** What schedules do, on each generation of the scheduler and over each transport. */
import { describe, expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { Api } from '../support/api.ts'

interface Fixtures {
  api: Api
  catalog: string
}

/** A `test` of vitest with these fixtures. */
export type ScheduleTest = (name: string, act: (fixtures: Fixtures) => Promise<void>) => void

const WHEN = { every: [{ interval: '1h' }] }

export function aSchedule(more: object = {}) {
  return { workflowName: 'nothing', input: null, when: WHEN, ...more }
}

export function scheduleCalls({ call }: Pick<Api, 'call'>, id = `s-${crypto.randomUUID()}`) {
  const path = `/schedules/${encodeURIComponent(id)}`
  return {
    id,
    put: (document: object = aSchedule(), headers?: Record<string, string>) => call('PUT', path, document, headers),
    get: () => call('GET', path),
    remove: (headers?: Record<string, string>) => call('DELETE', path, undefined, headers),
    post: (action: string, body?: object) => call('POST', `${path}/${action}`, body),
    times: (from: string, until: string) => call('GET', `${path}/times?from=${from}&until=${until}`),
  }
}

/** `rounds`: how often three writers compete. */
export function describeSchedules(name: string, it: ScheduleTest, rounds: number): void {
  describe(`schedules, ${name}`, () => {
    it('PUT creates a schedule, then replaces it, and shows what the engine keeps', async ({ api, catalog }) => {
      const { id, put, get } = scheduleCalls(api)
      const document = {
        workflowName: 'nothing',
        args: [{ kind: 'daily' }],
        memo: { team: 'accounting', token: 'x' },
        runTimeout: '1m',
        retry: { initialInterval: '2s', maximumAttempts: 3 },
        priority: { priorityKey: 2 },
        summary: 'daily report',
        headers: { tenant: 'acme' },
        when: {
          cron: ['30 12 * * MON-FRI'],
          every: [{ interval: '1h', offset: '5m' }],
          calendars: [{ hour: '3', dayOfWeek: 'TUE', comment: 'nightly' }],
          except: [{ month: '12', dayOfMonth: '25' }],
          timeZone: 'Europe/Berlin',
          from: '2026-12-01T00:00:00Z',
          until: '2130-01-01T00:00:00Z',
          jitter: '30s',
        },
        catchupWindow: '1m',
        paused: true,
        note: 'for accounting',
        remainingRuns: 10,
        set: { name: 'billing', digest: 'd1' },
      }

      const created = await put(document, { 'If-None-Match': '*' })
      const read = await get()
      const replaced = await put({ ...document, when: read.body.when, note: 'again' })
      const again = await put(document, { 'If-None-Match': '*' })
      const shown = await put({ ...document, memo: { by: [read.body.memo] } })

      expect(created.status).toBe(201)
      expect(created.headers.get('Location')).toBe(`/schedules/${id}`)
      expect(created.headers.get('ETag')).toBe(`"${created.body.version}"`)
      expect(created.headers.get('Cache-Control')).toBe('no-store')
      expect(read.body).toEqual(created.body)
      expect(read.body).toEqual({
        scheduleId: id,
        version: expect.any(String),
        workflowName: 'nothing',
        workflowId: id,
        catalog,
        args: [{ kind: 'daily' }],
        memo: { team: 'accounting', token: '[redacted]' },
        runTimeoutMs: 60_000,
        retry: expect.objectContaining({ initialIntervalMs: 2000, maximumAttempts: 3 }),
        priority: { priorityKey: 2 },
        summary: 'daily report',
        headers: { tenant: 'acme' },
        when: {
          calendars: expect.arrayContaining([
            {
              second: '0',
              minute: '30',
              hour: '12',
              dayOfMonth: '*',
              month: '*',
              dayOfWeek: '1-5',
              comment: '30 12 * * MON-FRI',
            },
            {
              second: '0',
              minute: '0',
              hour: '3',
              dayOfMonth: '*',
              month: '*',
              dayOfWeek: '2',
              comment: 'nightly',
            },
          ]),
          every: [{ interval: 3_600_000, offset: 300_000 }],
          except: [{ second: '*', minute: '*', hour: '*', dayOfMonth: '25', month: '12', dayOfWeek: '*' }],
          timeZone: 'Europe/Berlin',
          from: '2026-12-01T00:00:00.000Z',
          until: '2130-01-01T00:00:00.000Z',
          jitter: 30_000,
        },
        overlap: 'skip',
        catchupWindowMs: 60_000,
        pauseOnFailure: false,
        paused: true,
        note: 'for accounting',
        remainingRuns: 10,
        set: { name: 'billing', digest: 'd1' },
        info: {
          runs: 0,
          skipped: 0,
          missed: 0,
          next: [],
          recent: [],
          running: [],
          createdAt: expect.any(String),
          updatedAt: null,
        },
      })
      expect(replaced.status).toBe(200)
      expect(replaced.body).toMatchObject({ when: read.body.when, note: 'again' })
      expect(replaced.body.version).not.toBe(created.body.version)
      expect([again.status, again.body.error, again.body.scheduleId]).toEqual([412, 'PreconditionFailedError', id])
      // A reader has not seen the secret, and must not replace it.
      expect([shown.status, shown.body.issues]).toEqual([
        400,
        [{ path: '/memo/by/0/token', message: 'is [redacted], which stands for a secret: send the secret' }],
      ])
    })

    it('of three writers that have read one version, exactly one replaces it', async ({ api }) => {
      const { put, get } = scheduleCalls(api)
      let { version } = (await put()).body
      for (let round = 0; round < rounds; round++) {
        const notes = [0, 1, 2].map((writer) => `${round}.${writer}`)
        const answers = await Promise.all(notes.map((note) => put(aSchedule({ note }), { 'If-Match': `"${version}"` })))

        const statuses = answers.map(({ status }) => status)
        expect(statuses.toSorted()).toEqual([200, 412, 412])
        const { body } = await get()
        expect(body.note).toBe(notes[statuses.indexOf(200)])
        expect(body.version).not.toBe(version)
        version = body.version
      }
      const repeated = [0, 1].map(() => put(aSchedule({ note: 'same' }), { 'If-Match': `"${version}"` }))
      expect((await Promise.all(repeated)).map(({ status }) => status)).toEqual([200, 200])
    })

    it('a version that is not the present one changes nothing, whatever its form', async ({ api }) => {
      const { put, get, remove } = scheduleCalls(api)
      expect((await put(aSchedule(), { 'If-Match': '*' })).status).toBe(412)
      const { version } = (await put()).body
      await put(aSchedule({ note: 'newer' }))

      for (const tag of [`"${version}"`, '"AAAA"', 'x', 'W/"x"', '"ä"'.replace('ä', 'a')]) {
        const { status, body } = await put(aSchedule({ note: 'stale' }), { 'If-Match': tag })
        expect([tag, status, body.error]).toEqual([tag, 412, 'PreconditionFailedError'])
      }

      expect((await get()).body.note).toBe('newer')
      expect((await put(aSchedule({ note: 'any' }), { 'If-Match': '*' })).status).toBe(200)
      expect((await remove()).status).toBe(200)
      expect((await put(aSchedule(), { 'If-Match': `"${version}"` })).status).toBe(412)
    })

    it('DELETE leaves runs, and frees the id; it takes no condition', async ({ api }) => {
      const { id, put, get, remove, post } = scheduleCalls(api)
      const workflowId = `w-${crypto.randomUUID()}`
      await put(aSchedule({ workflowName: 'messages', workflowId }))
      await post('trigger')
      const run = await until('the run', async () => (await get()).body.info.recent[0])

      expect((await remove({ 'If-Match': '*' })).status).toBe(400)
      expect((await remove()).body).toEqual({ scheduleId: id, deleted: true })
      for (const answer of [await get(), await remove(), await post('pause'), await post('trigger')])
        expect([answer.status, answer.body.error]).toEqual([404, 'ScheduleNotFoundError'])
      expect(run.workflowId).toMatch(new RegExp(`^${workflowId}-\\d{4}-`))
      expect((await api.get(`${run.workflowId}/status`)).body).toMatchObject({ status: 'running', memo: {} })
      expect((await put()).status).toBe(201)
      await api.post(`${run.workflowId}/terminate`)
    })

    it('pause and unpause can be repeated; a pause has no next times', async ({ api }) => {
      const { id, put, get, post } = scheduleCalls(api)
      await put(aSchedule({ note: 'first' }))
      for (const reason of ['closed', 'still closed'])
        expect((await post('pause', { reason })).body).toEqual({ scheduleId: id, paused: true })
      expect((await get()).body).toMatchObject({ paused: true, note: 'still closed', info: { next: [] } })
      const rows = async () => (await api.call('GET', '/schedules?paused=true&pageSize=1000')).body.schedules
      const own = async () => (await rows()).find((row: { scheduleId: string }) => row.scheduleId === id)
      // The second generation lists it a moment later.
      const listed = await until('it is listed', async () => ((await own())?.note === 'still closed' ? own() : null))
      expect(listed).toMatchObject({ paused: true, next: [] })

      for (const _ of [1, 2]) expect((await post('unpause')).body).toEqual({ scheduleId: id, paused: false })

      const { body } = await get()
      expect(body).toMatchObject({ paused: false, note: 'unpaused' })
      expect(body.info.next.length).toBeGreaterThan(0)
    })

    it('times and a backfill include both ends', async ({ api }) => {
      const { id, put, get, post, times } = scheduleCalls(api)
      await put(aSchedule({ paused: true, overlap: 'allow-all' }))
      const [from, to] = ['2026-01-01T00:00:00Z', '2026-01-01T02:00:00Z']

      const listed = await times(from, to)
      const accepted = await post('backfill', { from, until: to, overlap: 'allow-all' })

      expect(listed.body).toEqual({
        times: ['2026-01-01T00:00:00.000Z', '2026-01-01T01:00:00.000Z', '2026-01-01T02:00:00.000Z'],
        complete: true,
      })
      expect([accepted.status, accepted.body]).toEqual([202, { scheduleId: id, accepted: true }])
      await until('it has acted', async () => (await get()).body.info.runs === 3)
      const runs = `runs?searchAttributes[TemporalScheduledById]=${id}`
      await until('its runs are listed', async () => (await api.get(runs)).body.runs?.length === 3)
      expect((await times(from, '2036-01-01T00:00:00Z')).body).toMatchObject({ complete: false })
      expect((await times(to, from)).body.issues).toEqual([{ path: '/until', message: 'must not be before from' }])
    })

    it('the engine rejects a calendar that it cannot read with 400 at /when', async ({ api }) => {
      const { put } = scheduleCalls(api)
      for (const when of [{ cron: ['no cron'] }, { calendars: [{ hour: '99' }] }, { ...WHEN, timeZone: 'Mars/Base' }]) {
        const { status, body } = await put(aSchedule({ when }))
        expect([status, body.issues?.[0]?.path]).toEqual([400, '/when'])
      }
    })

    it('the list has the newest first, in pages', async ({ api }) => {
      const prefix = `list-${crypto.randomUUID()}`
      for (const n of [1, 2, 3]) await scheduleCalls(api, `${prefix}-${n}`).put()
      const query = encodeURIComponent(`ScheduleId STARTS_WITH "${prefix}"`)
      const all = async () => (await api.call('GET', `/schedules?query=${query}`)).body.schedules
      await until('they are listed', async () => (await all()).length === 3)
      const first = await api.call('GET', `/schedules?query=${query}&pageSize=2`)
      const token = encodeURIComponent(first.body.nextPageToken)
      const second = await api.call('GET', `/schedules?query=${query}&pageSize=2&pageToken=${token}`)
      const ids = [first, second].flatMap(({ body }) =>
        body.schedules.map((row: { scheduleId: string }) => row.scheduleId),
      )

      expect(ids).toEqual([3, 2, 1].map((n) => `${prefix}-${n}`))
      expect(first.body.schedules[0]).toMatchObject({
        workflowName: 'nothing',
        when: { every: [{ interval: 3_600_000 }] },
      })
      expect((await api.call('GET', `/schedules?pageToken=${token}`)).body.error).toBe('InvalidPageTokenError')
      expect((await api.call('GET', '/schedules?query=Nope%3D1')).body.issues[0].path).toBe('/query')
    })
  })
}
