/** Whose catalog stands when several workers have one for the same task queue. */
import { type LogEntry, NativeConnection } from '@temporalio/worker'
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest'
import { until } from '../../dev/servers/until.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { type KitWorker, recordLog, runKitWorker } from '../support/kit-worker.ts'

const OLD = defineCatalog({ echo: {}, whoAmI: {} })
const NEW = defineCatalog({ echo: {}, nothing: {} })

let log: LogEntry[]
let connection: NativeConnection
const workers: KitWorker[] = []

beforeAll(async () => {
  log = recordLog()
  connection = await NativeConnection.connect({ address: inject('engine').address })
})

afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()))
})

afterAll(() => connection?.close())

test('versions: the first version of a deployment is published before any version is current', async () => {
  const { published, run } = aDeployment()

  await run('v1', OLD)

  expect((await published())?.names).toEqual(['echo', 'whoAmI'])
})

test('versions: a new version is published once it is current, and an old one that restarts changes nothing', async () => {
  const { published, run, setCurrent } = aDeployment()
  const v1 = await run('v1', OLD)
  await setCurrent('v1')
  const v2 = await run('v2', NEW)
  await looksTimes(v2, 3)
  expect((await published())?.names).toEqual(['echo', 'whoAmI'])

  await setCurrent('v2')
  await until('the new version is published', async () => (await published())?.names.includes('nothing'))
  const standing = await published()
  await v1.stop()
  const restarted = await run('v1', OLD)
  await Promise.all([looksTimes(restarted, 3), looksTimes(v2, 3)])

  expect(await published()).toEqual(standing)
})

test('versions: a current version whose catalog is the one of the version before stands as the one that published it', async () => {
  const { published, run, setCurrent } = aDeployment()
  const v1 = await run('v1', OLD)
  await setCurrent('v1')
  const v2 = await run('v2', OLD)
  await looksTimes(v2, 3)
  expect((await published())?.buildId).toBe('v1')

  await setCurrent('v2')
  await until('the new version is published', async () => (await published())?.buildId === 'v2')
  const standing = await published()
  await Promise.all([looksTimes(v1, 3), looksTimes(v2, 3)])

  expect(await published()).toEqual(standing)
})

test('versions: a ramping version stands above the current one from half of the traffic on, and no longer once it is ramping no more', async () => {
  const { published, run, setCurrent, setRamping } = aDeployment()
  const v1 = await run('v1', OLD)
  await setCurrent('v1')
  const v2 = await run('v2', NEW)
  const current = await published()

  await setRamping('v2', 49)
  await looksTimes(v2, 3)
  expect(await published()).toEqual(current)

  await setRamping('v2', 50)
  await until('the ramping version is published', async () => (await published())?.names.includes('nothing'))
  const ramping = await published()
  const another = await run('v1', OLD)
  await Promise.all([looksTimes(v1, 3), looksTimes(another, 3)])
  expect(await published()).toEqual(ramping)

  await setRamping('', 0)
  await until('the current version is published again', async () => (await published())?.names.includes('whoAmI'))
})

test('versions: an unversioned worker that starts while a version is current changes nothing', async () => {
  const { published, run, setCurrent } = aDeployment()
  await run('v1', NEW)
  await setCurrent('v1')
  const standing = await published()

  const unversioned = await run(null, OLD)
  await looksTimes(unversioned, 3)

  expect(await published()).toEqual(standing)
})

test('without versioning: the last worker that started wins, and looks change nothing', async () => {
  const { published, run } = aDeployment()
  const first = await run(null, OLD)
  const second = await run(null, NEW)
  const standing = await published()

  await Promise.all([looksTimes(first, 5), looksTimes(second, 5)])

  expect(standing?.names).toEqual(['echo', 'nothing'])
  expect(await published()).toEqual(standing)
})

test('without versioning: a replaced catalog is one warning with the names that are lost, for who replaces and for who is replaced', async () => {
  const { taskQueue, run } = aDeployment()
  const first = await run(null, OLD)
  const second = await run(null, NEW)
  await Promise.all([looksTimes(first, 5), looksTimes(second, 5)])

  const warnings = log.filter(({ level, meta }) => level === 'WARN' && meta?.catalog === taskQueue)
  expect(warnings.map(({ message, meta }) => [message, meta?.lost])).toEqual([
    ["Catalog published, replacing another worker's: names are lost", ['whoAmI']],
    ["Catalog was replaced by another worker's: names are lost", ['whoAmI']],
  ])
})

test('replicas: many of one version leave the catalog of the first alone, however often they look', async () => {
  const { published, run } = aDeployment()
  const first = await run('v1', OLD)
  const standing = await published()

  const replicas = await Promise.all([run('v1', OLD), run('v1', OLD), run('v1', OLD)])
  await Promise.all([first, ...replicas].map((worker) => looksTimes(worker, 3)))

  expect(await published()).toEqual(standing)
})

async function looksTimes({ looks }: KitWorker, times: number): Promise<void> {
  const before = looks()
  await until(`it has looked ${times} times more`, () => looks() >= before + times)
}

/** A task queue of its own, with the deployment whose versions work on it. */
function aDeployment() {
  const id = crypto.randomUUID()
  const taskQueue = `versions-${id}`
  const deploymentName = `deployment-${id}`
  const { workflowService } = connection
  const asked = { namespace: 'default', deploymentName, identity: 'a test' }
  return {
    taskQueue,
    /** `null` for a worker without versioning. Resolves when it polls. */
    async run(buildId: string | null, catalog: typeof OLD) {
      const version = buildId === null ? {} : { version: { deploymentName, buildId } }
      const worker = await runKitWorker({ address: inject('engine').address, taskQueue, catalog, ...version })
      workers.push(worker)
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
    // The engine knows a version some moments after its worker's first poll.
    setCurrent: (buildId: string) =>
      until(
        `${buildId} is current`,
        async () => !!(await workflowService.setWorkerDeploymentCurrentVersion({ ...asked, buildId })),
      ),
    setRamping: (buildId: string, percentage: number) =>
      until(
        `${buildId} is ramping`,
        async () => !!(await workflowService.setWorkerDeploymentRampingVersion({ ...asked, buildId, percentage })),
      ),
  }
}
