import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { RunRef } from '../../../src/shared/wire/run-ref.ts'
import { call, type EngineFixture } from './engine-fixture.ts'

/** What the activities of a run report. */
export function heartbeats(fixture: EngineFixture): void {
  const readHeartbeats = (run: RunRef) =>
    until('the heartbeat has arrived', async () => (await fixture.engine.describe(run, call())).heartbeats)

  test('heartbeats: an open activity has the details of the last one, with exact numbers', async () => {
    const run = await fixture.start('reportsProgress', { details: { percent: 40 } })

    const { activities, decode } = await readHeartbeats(run)
    const details = JSON.stringify(await decode())
    await fixture.engine.terminate(run, null, call())
    const { startedAt, completedAt } = await fixture.engine.describe(run, call())

    expect(activities).toEqual([
      { activityId: '1', activityType: 'reports', attempt: 1, heartbeatAt: expect.any(Date) },
    ])
    expect(details).toBe('[{"percent":40,"id":9007199254740993}]')
    const heartbeatAt = Number(activities[0]?.heartbeatAt)
    expect([Number(startedAt), heartbeatAt, Number(completedAt)].toSorted((a, b) => a - b)[1]).toBe(heartbeatAt)
  })

  test('heartbeats: the next attempt of an activity has those of the last one', async () => {
    const run = await fixture.start('reportsProgress', { fails: true })
    const failed = await until('it has failed', async () => {
      const { heartbeats: found } = await fixture.engine.describe(run, call())
      return found?.activities[0]?.attempt === 2 ? found : null
    })
    await fixture.engine.terminate(run, null, call())

    expect(failed.activities).toMatchObject([{ attempt: 2, heartbeatAt: expect.any(Date) }])
    expect(JSON.stringify(await failed.decode())).toBe('[{"id":9007199254740993}]')
  })

  test('heartbeats: a run without activities has none, nor has a run that ended while one was open', async () => {
    const [waiting, closed] = await Promise.all([fixture.start('messages'), fixture.start('reportsProgress', {})])
    await readHeartbeats(closed)
    await fixture.engine.terminate(closed, null, call())

    const runs = await Promise.all([waiting, closed].map((run) => fixture.engine.describe(run, call())))
    await fixture.engine.terminate(waiting, null, call())

    expect(runs.map((run) => run.heartbeats)).toEqual([undefined, undefined])
  })
}
