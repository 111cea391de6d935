/** Which catalog counts when two releases on one task queue start, restart and end in different orders. */
import { WorkflowIdConflictPolicy } from '@temporalio/client'
import { expect } from 'vitest'
import { bundleWorkflows, startWorkerProcess } from '../../dev/servers/traced-worker.ts'
import type { RunningProcess } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { test as baseTest } from '../../test/support/fixtures.ts'
import { promisedMs } from '../../test/support/promises.ts'

const ENTRY = new URL('../../test/worker/fixtures/release-worker.ts', import.meta.url)
const WORKFLOWS = new URL('../../test/support/workflows.ts', import.meta.url)

// What is seen up to 20 s late must be silent for 100 s, which is seen up to 20 s late.
const UNTIL_IT_COUNTS = { timeoutMs: promisedMs(30, '150 s'), everyMs: 500 }

interface Rollout {
  /** Starts a worker of the release, called by this letter, and waits until its catalog counts. */
  start(release: '1' | '2', letter: string): Promise<RunningProcess>
  /** A worker in another language, which does not name itself. */
  publishWithoutPublisher(): Promise<void>
  /** Which catalogs have counted one after the other, each as `<release> of <letter>`. */
  counted: string[]
  untilCounts(catalog: string): Promise<boolean>
}

const ORDERS: Record<string, { act(rollout: Rollout): Promise<unknown>; counted: string[] }> = {
  'both releases poll: nothing changes': {
    async act({ start }) {
      await start('1', 'a')
      await start('2', 'b')
    },
    counted: ['1 of a', '2 of b'],
  },
  'the older one restarts during the rollout and is killed: the newer one counts': {
    async act({ start, untilCounts }) {
      const old = await start('1', 'a')
      await start('2', 'b')
      await old.kill()
      const restarted = await start('1', 'c')
      await restarted.kill()
      await untilCounts('2 of b')
    },
    counted: ['1 of a', '2 of b', '1 of c', '2 of b'],
  },
  'the newer one is killed: the older one counts': {
    async act({ start, untilCounts }) {
      await start('1', 'a')
      const newer = await start('2', 'b')
      await newer.kill()
      await untilCounts('1 of a')
    },
    counted: ['1 of a', '2 of b', '1 of a'],
  },
  'the newer one ends as it should: the older one counts': {
    async act({ start, untilCounts }) {
      await start('1', 'a')
      const newer = await start('2', 'b')
      await newer.stop(60_000)
      await untilCounts('1 of a')
    },
    counted: ['1 of a', '2 of b', '1 of a'],
  },
  'the newer one is killed and restarts during the rollout: it counts': {
    async act({ start }) {
      await start('1', 'a')
      const newer = await start('2', 'b')
      await newer.kill()
      await start('2', 'c')
    },
    counted: ['1 of a', '2 of b', '2 of c'],
  },
  'the only one is killed and restarts after a minute: it counts': {
    async act({ start }) {
      const only = await start('1', 'a')
      await only.kill()
      const killedAt = Date.now()
      await until('a minute has passed', async () => Date.now() - killedAt > 60_000, { timeoutMs: 120_000 })
      await start('1', 'b')
    },
    counted: ['1 of a', '1 of b'],
  },
  'the older one starts last and ends: the newer one counts': {
    async act({ start, untilCounts }) {
      await start('2', 'a')
      const old = await start('1', 'b')
      await old.stop(60_000)
      await untilCounts('2 of a')
    },
    counted: ['2 of a', '1 of b', '2 of a'],
  },
  'a replica of the publisher remains: its release still counts': {
    async act({ start, untilCounts }) {
      await start('1', 'a')
      await start('2', 'b')
      const publisher = await start('1', 'c')
      await publisher.kill()
      await untilCounts('1 of a')
    },
    counted: ['1 of a', '2 of b', '1 of c', '1 of a'],
  },
  'a catalog without a publisher never changes hands': {
    async act({ start, untilCounts, publishWithoutPublisher }) {
      await start('1', 'a')
      await publishWithoutPublisher()
      await untilCounts('another of nobody')
    },
    counted: ['1 of a', 'another of nobody'],
  },
}

const test = baseTest.extend('outcome', { scope: 'file' }, async ({ engine, folder, connection, client, cleanup }) => {
  const bundle = await bundleWorkflows(WORKFLOWS, folder)
  const ended = new AbortController()
  const watching: Promise<unknown>[] = []
  const rollouts = await Promise.all(
    Object.entries(ORDERS).map(async ([name, { act }]) => {
      const rollout = watchRollout()
      await act(rollout)
      return [name, rollout.counted] as const
    }),
  )
  cleanup.defer(async () => {
    ended.abort()
    await Promise.all(watching)
  })
  return new Map(rollouts)

  function watchRollout(): Rollout {
    const taskQueue = `rollout-${crypto.randomUUID()}`
    const letters = new Map<number, string>()
    const counted: string[] = []
    const look = async () => {
      const now = await whatCounts(taskQueue, letters)
      if (now !== null && now !== counted.at(-1)) counted.push(now)
      return now
    }
    const watch = async () => {
      await look()
      return ended.signal.aborted
    }
    watching.push(until('the file has ended', watch, { timeoutMs: 600_000, everyMs: 1000 }))
    const untilCounts = (catalog: string) =>
      until(`${catalog} counts`, async () => (await look()) === catalog, UNTIL_IT_COUNTS)
    return {
      counted,
      untilCounts,
      async start(release, letter) {
        const env = { ENGINE_ADDRESS: engine.address, SERVICE_CATALOG_ID: taskQueue, WORKFLOW_BUNDLE: bundle }
        const worker = await startWorkerProcess(ENTRY, { ...env, RELEASE: release })
        cleanup.defer(async () => void (await worker.kill()))
        letters.set(worker.pid, letter)
        await untilCounts(`${release} of ${letter}`)
        return worker
      },
      async publishWithoutPublisher() {
        await client.workflow.start('$catalog', {
          taskQueue: '$catalog',
          workflowId: `$catalog:${taskQueue}`,
          startDelay: '3650 days',
          workflowIdConflictPolicy: WorkflowIdConflictPolicy.TERMINATE_EXISTING,
          args: [{ workflows: [], workflowNames: {} }],
          memo: { workflowNames: {}, hash: 'of another language', traces: false },
        })
      },
    }
  }

  async function whatCounts(taskQueue: string, letters: ReadonlyMap<number, string>): Promise<string | null> {
    const execution = { workflowId: `$catalog:${taskQueue}` }
    const described = await connection.workflowService
      .describeWorkflowExecution({ namespace: 'default', execution })
      .catch(() => null)
    const fields = described?.workflowExecutionInfo?.memo?.fields
    if (!fields) return null
    const names = Object.keys(JSON.parse(Buffer.from(fields.workflowNames?.data ?? '{}').toString()))
    const release = names.includes('whoAmI') ? '1' : names.includes('nothing') ? '2' : 'another'
    const publisher = fields.publisher && JSON.parse(Buffer.from(fields.publisher.data ?? '').toString())
    const letter = publisher ? letters.get(Number.parseInt(publisher, 10)) : 'nobody'
    // A worker that has published is known when it is ready.
    return letter === undefined ? null : `${release} of ${letter}`
  }
})

// All of them at once: each takes minutes. One that changes nothing has been watched for as long as the slowest.
test.for(Object.entries(ORDERS))(
  'rollout: %s (failure 30)',
  { timeout: 600_000 },
  ([name, { counted }], { outcome }) => {
    expect(outcome.get(name)).toEqual(counted)
  },
)
