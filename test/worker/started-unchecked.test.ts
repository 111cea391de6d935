/** Which requests are accepted while a worker publishes its first catalog. */
import { expect } from 'vitest'
import * as z from 'zod'
import { until } from '../../src/cli/dev/servers/until.ts'
import { mapConcurrent } from '../../src/shared/lib/map-concurrent.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { test as baseTest, type InProcessService } from '../support/fixtures.ts'

const ROUNDS = 20
// Each round waits for a worker to start and to stop.
const CONCURRENT_ROUNDS = 5
const CATALOG = defineCatalog({ echo: { aliases: ['parrot'], input: z.number() } })

// Must not be started unchanged: an alias, an unknown workflow, an input that does not match the schema.
const REQUESTS = [
  { workflowName: 'parrot', input: 1 },
  { workflowName: 'noSuchWorkflow', input: 1 },
  { workflowName: 'echo', input: 'bad' },
]

const test = baseTest.extend(
  'startUnderRequests',
  { scope: 'file' },
  ({ client: { workflow }, serve, startWorker }) => {
    /** Sends requests without a pause, from before a worker starts until it has accepted ten aliases. */
    return async () => {
      const service = serve({ SERVICE_CATALOG_ID: `unchecked-${crypto.randomUUID()}` })
      const accepted: string[] = []
      let rejectedBefore = 0
      let isOver = false
      const streams = REQUESTS.map(async (body) => {
        while (!isOver) {
          const { status, workflowId } = await start(service, body)
          if (status === 503) rejectedBefore++
          if (status === 200) accepted.push(workflowId)
        }
      })
      await until('requests are rejected', () => rejectedBefore > 10)
      const worker = await startWorker({ taskQueue: service.catalog, catalog: CATALOG })
      await until('aliases are accepted', () => accepted.length >= 10)
      isOver = true
      await Promise.all(streams)
      const runs = await Promise.all(accepted.map((id) => workflow.getHandle(id).describe()))
      const results = await Promise.allSettled(
        accepted.map((id, index) => runs[index]?.type === 'echo' && workflow.getHandle(id).result()),
      )
      const unchecked = runs.filter(({ type }, index) => {
        const result = results[index]
        return type !== 'echo' || result?.status !== 'fulfilled' || result.value !== 1
      })
      await Promise.allSettled(unchecked.map(({ workflowId }) => workflow.getHandle(workflowId).terminate()))
      await worker.stop()
      return {
        rejectedBefore,
        acceptedAfter: accepted.length,
        unchecked: unchecked.map(({ type, workflowId }) => `${type} ${workflowId}`),
      }
    }
  },
)

test('a worker that starts under load: no request is accepted before its catalog is published, in 20 rounds', async ({
  startUnderRequests,
}) => {
  const rounds: Awaited<ReturnType<typeof startUnderRequests>>[] = []
  await mapConcurrent(Array.from({ length: ROUNDS }), CONCURRENT_ROUNDS, async () => {
    rounds.push(await startUnderRequests())
  })

  expect(rounds).toHaveLength(ROUNDS)
  expect(rounds.flatMap(({ unchecked }) => unchecked)).toEqual([])
  expect(rounds.every(({ rejectedBefore, acceptedAfter }) => rejectedBefore > 0 && acceptedAfter > 0)).toBe(true)
})

test('a worker with a catalog joins one without: from then on every request is checked', async ({
  client: { workflow },
  serve,
  startWorker,
}) => {
  const service = serve()
  await startWorker()
  const before = await start(service, { workflowName: 'noSuchWorkflow', input: null })

  await startWorker({ catalog: CATALOG })
  const after = await Promise.all(REQUESTS.map((body) => start(service, body)))

  expect(before.status).toBe(200)
  expect(after.map(({ status }) => status)).toEqual([200, 424, 400])
  expect((await workflow.getHandle(after[0]?.workflowId ?? '').describe()).type).toBe('echo')
  await workflow.getHandle(before.workflowId).terminate()
})

async function start({ fetch }: InProcessService, body: object): Promise<{ status: number; workflowId: string }> {
  const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  const response = await fetch(new Request('http://portico/workflow/start', init))
  const { workflowId } = JSON.parse(await response.text())
  return { status: response.status, workflowId }
}
