/** Which catalog is published when several workers have one for the same task queue. */
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { catalogHash } from '../../src/worker/catalog/publish-catalog.ts'
import { test as kitTest, untilChecked } from '../support/kit-worker.ts'

const OLD = defineCatalog({ echo: {}, whoAmI: {} })
const NEW = defineCatalog({ echo: {}, nothing: {} })

const test = kitTest
  /** A task queue with a worker deployment. */
  .extend('deployment', ({ connection, runKitWorker }) => {
    const id = crypto.randomUUID()
    const taskQueue = `versions-${id}`
    const deploymentName = `deployment-${id}`
    const { workflowService } = connection
    const deployment = { namespace: 'default', deploymentName, identity: 'a test' }
    return {
      taskQueue,
      /** Starts a worker; without versioning if `buildId` is null. Resolves when it polls. */
      async run(buildId: string | null, catalog: typeof OLD) {
        const version = buildId === null ? {} : { version: { deploymentName, buildId } }
        const worker = await runKitWorker({ taskQueue, catalog, ...version })
        await worker.ready
        return worker
      },
      async published() {
        const execution = { workflowId: `$catalog:${taskQueue}` }
        const { workflowExecutionInfo: run } = await workflowService.describeWorkflowExecution({
          namespace: 'default',
          execution,
        })
        if (run?.status !== 1) return null
        const names = JSON.parse(Buffer.from(run.memo?.fields?.workflowNames?.data ?? '{}').toString())
        const version = JSON.parse(Buffer.from(run.memo?.fields?.version?.data ?? 'null').toString())
        return { runId: run.execution?.runId, names: Object.keys(names), buildId: version?.buildId ?? null }
      },
      /** The publisher in the memo, and who polls the task queue. */
      async identities() {
        const execution = { workflowId: `$catalog:${taskQueue}` }
        const described = await workflowService.describeWorkflowExecution({ namespace: 'default', execution })
        const publisher = described.workflowExecutionInfo?.memo?.fields?.publisher?.data
        const request = { namespace: 'default', taskQueue: { name: taskQueue }, taskQueueType: 1 }
        const { pollers } = await workflowService.describeTaskQueue(request)
        return {
          publisher: JSON.parse(Buffer.from(publisher ?? 'null').toString()),
          pollers: pollers.map(({ identity }) => identity),
        }
      },
      // The engine knows a version some moments after its worker's first poll.
      setCurrent: (buildId: string) =>
        until(
          `${buildId} is current`,
          async () => !!(await workflowService.setWorkerDeploymentCurrentVersion({ ...deployment, buildId })),
        ),
      setRamping: (buildId: string, percentage: number) =>
        until(
          `${buildId} is ramping`,
          async () =>
            !!(await workflowService.setWorkerDeploymentRampingVersion({ ...deployment, buildId, percentage })),
        ),
    }
  })

test('versions: the first version of a deployment publishes before any version is current', async ({ deployment }) => {
  const { published, run } = deployment

  await run('v1', OLD)

  expect((await published())?.names).toEqual(['echo', 'whoAmI'])
})

test('versions: a new version publishes once it is current, and a restarted old version changes nothing', async ({
  deployment,
}) => {
  const { published, run, setCurrent } = deployment
  const v1 = await run('v1', OLD)
  await setCurrent('v1')
  const v2 = await run('v2', NEW)
  await untilChecked(v2, 3)
  expect((await published())?.names).toEqual(['echo', 'whoAmI'])

  await setCurrent('v2')
  await until('the new version is published', async () => (await published())?.names.includes('nothing'))
  const before = await published()
  await v1.stop()
  const restarted = await run('v1', OLD)
  await Promise.all([untilChecked(restarted, 3), untilChecked(v2, 3)])

  expect(await published()).toEqual(before)
})

test("versions: a current version publishes even if its catalog equals the previous version's", async ({
  deployment,
}) => {
  const { published, run, setCurrent } = deployment
  const v1 = await run('v1', OLD)
  await setCurrent('v1')
  const v2 = await run('v2', OLD)
  await untilChecked(v2, 3)
  expect((await published())?.buildId).toBe('v1')

  await setCurrent('v2')
  await until('the new version is published', async () => (await published())?.buildId === 'v2')
  const before = await published()
  await Promise.all([untilChecked(v1, 3), untilChecked(v2, 3)])

  expect(await published()).toEqual(before)
})

test('versions: a ramping version takes precedence from 50 % of the traffic on, until the ramp ends', async ({
  deployment,
}) => {
  const { published, run, setCurrent, setRamping } = deployment
  const v1 = await run('v1', OLD)
  await setCurrent('v1')
  const v2 = await run('v2', NEW)
  const current = await published()

  await setRamping('v2', 49)
  await untilChecked(v2, 3)
  expect(await published()).toEqual(current)

  await setRamping('v2', 50)
  await until('the ramping version is published', async () => (await published())?.names.includes('nothing'))
  const ramping = await published()
  const another = await run('v1', OLD)
  await Promise.all([untilChecked(v1, 3), untilChecked(another, 3)])
  expect(await published()).toEqual(ramping)

  await setRamping('', 0)
  await until('the current version is published again', async () => (await published())?.names.includes('whoAmI'))
})

test('versions: an unversioned worker changes nothing while a version is current', async ({ deployment }) => {
  const { published, run, setCurrent } = deployment
  await run('v1', NEW)
  await setCurrent('v1')
  const before = await published()

  const unversioned = await run(null, OLD)
  await untilChecked(unversioned, 3)

  expect(await published()).toEqual(before)
})

test('without versioning: the last worker to start wins, and later checks change nothing', async ({ deployment }) => {
  const { published, run } = deployment
  const first = await run(null, OLD)
  const second = await run(null, NEW)
  const before = await published()

  await Promise.all([untilChecked(first, 5), untilChecked(second, 5)])

  expect(before?.names).toEqual(['echo', 'nothing'])
  expect(await published()).toEqual(before)
})

test('without versioning: both workers warn once about the names lost with a replaced catalog (failure 29)', async ({
  deployment,
  log,
}) => {
  const { taskQueue, run } = deployment
  const first = await run(null, OLD)
  const second = await run(null, NEW)
  await Promise.all([untilChecked(first, 5), untilChecked(second, 5)])

  const warnings = log.filter(({ level, meta }) => level === 'WARN' && meta?.catalog === taskQueue)
  // One of each worker: the first may notice the replacement before the second has the engine's response to it.
  expect(warnings.map(({ message, meta }) => [message, meta?.lost]).toSorted()).toEqual([
    ["Catalog published, replacing another worker's: names are lost", ['whoAmI']],
    ["Catalog was replaced by another worker's: names are lost", ['whoAmI']],
  ])
})

test('replicas: further workers of one version do not replace the catalog of the first', async ({ deployment }) => {
  const { published, run } = deployment
  const first = await run('v1', OLD)
  const before = await published()

  const replicas = await Promise.all([run('v1', OLD), run('v1', OLD), run('v1', OLD)])
  await Promise.all([first, ...replicas].map((worker) => untilChecked(worker, 3)))

  expect(await published()).toEqual(before)
})

test.for(['v1', null])(
  'the publisher in the memo is one of the pollers that the engine lists (version %s)',
  async (version, { deployment }) => {
    const { worker } = await deployment.run(version, OLD)

    await until('it polls', async () => (await deployment.identities()).pollers.length > 0)

    const { identity } = worker.options
    expect(await deployment.identities()).toEqual({ publisher: identity, pollers: [identity] })
  },
)

test('a catalog without a publisher is not replaced by running workers, whether they have the same one or another (failure 30)', async ({
  deployment,
  client,
}) => {
  const { taskQueue, published, run } = deployment
  const workers = [await run(null, OLD), await run(null, NEW)]
  const hash = await catalogHash(OLD, false)
  await client.workflow.start('$catalog', {
    taskQueue: '$catalog',
    workflowId: `$catalog:${taskQueue}`,
    startDelay: '3650 days',
    workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    args: [OLD],
    memo: { workflowNames: OLD.workflowNames, hash, traces: false },
  })
  const before = await published()

  for (const worker of workers) await untilChecked(worker, 5)

  expect(await published()).toEqual(before)
})
