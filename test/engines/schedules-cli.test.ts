/** What is done to a schedule over HTTP is read with Temporal's CLI, and the other way round. Also: a codec server. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { ensureTemporal } from '../../src/cli/dev/servers/temporal.ts'
import { aSchedule, scheduleCalls } from '../conformance/schedules.ts'
import { opaque, startCodec } from '../support/codec.ts'
import { test } from '../support/fixtures.ts'
import { announceErrors } from '../support/invariants.ts'

const run = promisify(execFile)

test('each operation over HTTP is seen by the temporal CLI, and each of the CLI over HTTP', async ({
  service,
  engine,
  catalog,
}) => {
  const { id, put, get, remove, post } = scheduleCalls(service)
  const temporal = async (command: string, ...args: string[]) => {
    const flags = ['--schedule-id', id, '--address', engine.address, ...args]
    return (await run(await ensureTemporal(), ['schedule', command, ...flags])).stdout
  }
  const described = async () => JSON.parse(await temporal('describe', '--output', 'json'))
  const stateOf = async () => (await described()).schedule.state ?? {}

  // Over HTTP, read with the CLI.
  await put(aSchedule({ when: { calendars: [{ hour: '3' }] }, overlap: 'buffer-one', note: 'one' }))
  expect((await described()).schedule).toMatchObject({
    spec: { structuredCalendar: [{ hour: [{ start: 3 }] }] },
    action: { startWorkflow: { workflowType: { name: 'nothing' }, workflowId: id } },
    policies: { overlapPolicy: 'SCHEDULE_OVERLAP_POLICY_BUFFER_ONE' },
    state: { notes: 'one' },
  })
  await post('pause', { reason: 'closed' })
  expect(await stateOf()).toMatchObject({ paused: true, notes: 'closed' })
  await post('unpause')
  expect((await stateOf()).paused ?? false).toBe(false)
  await post('trigger')
  await expect.poll(async () => Number((await described()).info.actionCount)).toBe(1)
  await remove()
  await expect(described()).rejects.toThrow()

  // With the CLI, read over HTTP.
  const workflow = ['--type', 'nothing', '--task-queue', catalog, '--workflow-id', `cli-${id}`]
  await temporal('create', '--interval', '1h/5m', '--overlap-policy', 'AllowAll', '--notes', 'cli', ...workflow)
  expect((await get()).body).toMatchObject({
    ...{ workflowName: 'nothing', workflowId: `cli-${id}`, catalog, args: [], set: null },
    ...{ when: { every: [{ interval: 3_600_000, offset: 300_000 }] }, overlap: 'allow-all', note: 'cli' },
  })
  await temporal('toggle', '--pause', '--reason', 'by the CLI')
  expect((await get()).body).toMatchObject({ paused: true, note: 'by the CLI' })
  await temporal('trigger')
  await expect.poll(async () => (await get()).body.info.runs).toBe(1)
  const { version } = (await get()).body
  await temporal('update', '--cron', '0 3 * * *', ...workflow)
  expect((await get()).body).toMatchObject({ when: { calendars: [{ hour: '3' }] } })
  expect((await put(aSchedule(), { 'If-Match': `"${version}"` })).status).toBe(412)
  await temporal('delete')
  expect((await get()).status).toBe(404)
})

test('with a codec server the engine stores arguments, memo and texts encoded, and responses have them decoded', async ({
  startWorker,
  serve,
  cleanup,
  client,
}) => {
  const codec = await startCodec({ opaque: true })
  cleanup.defer(() => codec.close())
  await startWorker({ options: { dataConverter: { payloadCodecs: [opaque] } } })
  const service = serve({ ENGINE_CODEC_ENDPOINT: codec.url })
  const { id, put, get, post } = scheduleCalls(service)
  const document = aSchedule({
    ...{ workflowName: 'echo', input: { card: '4242' }, memo: { team: 'red' }, summary: 'short' },
    set: { name: 'billing', digest: 'd' },
  })

  const created = await put(document)
  const { version } = created.body
  const replaced = await put({ ...document, note: 'again' }, { 'If-Match': `"${version}"` })

  expect([created.status, replaced.status]).toEqual([201, 200])
  expect((await get()).body).toMatchObject({
    ...{ args: [{ card: '4242' }], memo: { team: 'red' }, summary: 'short', note: 'again' },
    set: { name: 'billing', digest: 'd' },
  })
  const { schedule } = await client.workflowService.describeSchedule({ namespace: 'default', scheduleId: id })
  const stored = JSON.stringify(schedule?.action?.startWorkflow, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value,
  )
  for (const text of ['4242', 'red', 'short']) expect(stored).not.toContain(text)
  await post('trigger')
  const runs = `runs?searchAttributes[TemporalScheduledById]=${id}&status=completed`
  await expect.poll(async () => (await service.get(runs)).body.runs?.length).toBe(1)
  const [started] = (await service.get(runs)).body.runs
  expect((await service.get(`${started.workflowId}/result`)).body.output).toEqual({ card: '4242' })
  announceErrors(/"error":"PayloadCodecError"/)
  codec.fail(500)
  expect(['PayloadCodecError', 'EngineUnavailableError']).toContain((await get()).body.error)
})
