/** A replica is stopped while requests wait: the stacks do not repeat them at the next one. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { markedRun, test } from './fixtures.ts'
import { STACKS } from './stacks.ts'

const STOPPING = /The service is stopping; continue at Location/

test.for(STACKS)(
  '$name: requests that wait at a replica that is stopped are not started again',
  async ({ send }, { startReplicas, browser, listRuns, runsOf, service }) => {
    const replicas = await startReplicas(2, { SERVICE_SHUTDOWN_TIMEOUT: '3s' })
    const { url, first: stopped, others } = replicas
    const { workflowId } = (await service.start('neverEnds')).body
    const [plain, keyed] = [markedRun({ timeout: '60s' }), markedRun({ timeout: '60s' })]
    const marks = [plain.mark, keyed.mark]
    // Programs are installed and compiled by their first request, which can take minutes.
    await send({ url: `${url}/health` }, browser)
    replicas.takeRequests()

    const sending = Promise.all([
      send({ url: `${url}/workflow/run`, body: plain.body }, browser),
      send({ url: `${url}/workflow/run`, body: keyed.body, key: keyed.mark }, browser),
      send({ url: `${url}/workflow/${workflowId}/result?wait=60s` }, browser),
    ])
    await replicas.untilRequested(3, sending)
    for (const mark of marks) await until('the run is started', async () => (await listRuns(mark)).length > 0)
    others.forEach(replicas.prefer)
    process.kill(stopped.pid, 'SIGTERM')
    const received = await sending
    const repeated = replicas.takeRequests().filter(({ service }) => service !== stopped)
    const runs = await Promise.all(marks.map(runsOf))

    expect([repeated.map(({ line }) => line), runs.map(({ length }) => length)]).toEqual([[], [1, 1]])
    expect(received.map(({ status, body }) => [status, body.message])).toEqual(
      received.map(() => [424, expect.stringMatching(STOPPING)]),
    )
    expect((await stopped.ended).code).toBe(0)
  },
)
