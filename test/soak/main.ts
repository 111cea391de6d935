/**
 * `npm run soak`: ten minutes of all kinds of requests on two replicas, while the engine restarts, connections break, a
 * replica is killed, polls are refused and clients leave. Afterwards the ids, messages and final statuses in the
 * responses are compared with the engine's histories.
 *
 * `SOAK_MINUTES` (10) and `SOAK_SEED` (random) change it. Exits with 1 if anything was lost or doubled, if a response
 * was wrong, or if the memory, timers or sockets of the service grew.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, Connection } from '@temporalio/client'
import type { Inventory } from '../../dev/servers/observed-service.ts'
import { type ObservedService, startObservedService } from '../../dev/servers/start-observed.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { startEngine } from '../../src/cli/dev/servers/engine.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { testCatalog } from '../support/test-catalog.ts'
import { startWorker } from '../support/worker.ts'
import { audit } from './audit.ts'
import { type Fault, injectFaults } from './chaos.ts'
import { createClient } from './client.ts'
import { createLedger } from './ledger.ts'
import { createRandom } from './random.ts'
import { formatReport } from './report.ts'
import { runScenarios } from './scenarios.ts'

const minutes = Number(process.env.SOAK_MINUTES ?? 10)
const seed = Number(process.env.SOAK_SEED ?? Math.floor(Math.random() * 2 ** 31))
const CATALOG = 'soak'
const CLIENTS = 40
// Of the time, until memory is measured for the first time.
const WARM_UP = 0.2
const MAX_HEAP_GROWTH_BYTES = 6 * 2 ** 20
const MAX_MORE_HANDLES = 10

const print = (line: string) => void process.stdout.write(`${line}\n`)

print(`Soak of ${minutes} minutes, SOAK_SEED=${seed}`)
const folder = await mkdtemp(join(tmpdir(), 'soak-'))
// The number of long polls is below what the clients need, so some are refused.
const dynamicConfig = { 'frontend.namespaceCount': 40, 'frontend.WorkflowPauseEnabled': true }
let engine = await startEngine({ dbFile: join(folder, 'engine.sqlite'), dynamicConfig })
const worker = await startWorker({ address: engine.address, taskQueue: CATALOG, catalog: testCatalog })
const proxy = await startTcpProxy(engine.address)
const startReplica = () =>
  startObservedService({ address: proxy.address, catalog: CATALOG, env: { SERVICE_RESULT_CACHE_BYTES: `${2 ** 20}` } })
const steady = await startReplica()
let mortal = await startReplica()

const ledger = createLedger()
const faults: [Fault, ...Fault[]] = [
  {
    name: 'connections to the engine cut',
    async inject() {
      proxy.interrupt()
      await pause(3000)
      proxy.restore()
    },
  },
  {
    name: 'replica killed',
    async inject() {
      await mortal.kill()
      mortal = await startReplica()
    },
  },
  {
    name: 'engine restarted',
    inject: () => restartEngine(() => engine.stop()),
  },
  {
    name: 'engine killed',
    inject: () => restartEngine(() => engine.kill()),
  },
  {
    name: 'replica stopped (SIGTERM)',
    async inject() {
      process.kill(mortal.pid, 'SIGTERM')
      await until('the replica has ended', () => mortal.died.aborted)
      mortal = await startReplica()
    },
  },
]

const stopped = new AbortController()
const injecting = injectFaults(faults, createRandom(seed), stopped.signal)
// Thrown again below.
injecting.catch(() => stopped.abort())
await runClients(minutes * WARM_UP, 0)
const early = await settled(steady)
await runClients(minutes * (1 - WARM_UP), 1)
stopped.abort()
const injected = await injecting
const late = await settled(steady)
checkGrowth(early, late)

print('Comparing with the histories')
const connection = await Connection.connect({ address: engine.address })
const auditedRuns = await audit(new Client({ connection }), ledger, (done, of) => {
  if (done % 200 === 0) print(`  ${done} of ${of} workflows`)
})
await connection.close()
print(formatReport({ seed, minutes, ledger, faults: injected, auditedRuns, inventories: [early, late] }))
await Promise.all([steady.kill(), mortal.kill(), worker.stop().catch(() => {})])
await proxy.close()
await engine.stop()
await rm(folder, { recursive: true, force: true })
process.exit(ledger.violations.length === 0 ? 0 : 1)

async function restartEngine(end: () => Promise<unknown>): Promise<void> {
  await end()
  // On a busy machine a dev server with a database file takes minutes to respond while the replicas keep calling it.
  proxy.interrupt()
  engine = await engine.restart()
  proxy.restore()
}

async function runClients(forMinutes: number, phase: number): Promise<void> {
  const endsAt = Date.now() + forMinutes * 60_000
  const isOver = () => Date.now() >= endsAt
  const progress = setInterval(
    () => print(`  ${ledger.workflows.length} workflows, ${ledger.violations.length} violations`),
    30_000,
  )
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, number) => {
      const random = createRandom(seed + 1 + number + phase * CLIENTS)
      const client = createClient({ steadyUrl: steady.url, mortalUrl: () => mortal.url }, random, ledger)
      let workflows = 0
      const newId = () => `soak-${seed}-${phase}-${number}-${++workflows}`
      await runScenarios({ client, random, ledger, newId }, isOver)
    }),
  )
  clearInterval(progress)
}

/** Once the service has closed the idle connections of the clients, after 65 s. */
async function settled(service: ObservedService): Promise<Inventory> {
  await pause(70_000)
  return service.inventory()
}

function checkGrowth(early: Inventory, late: Inventory): void {
  const grownBytes = late.heapBytes - early.heapBytes
  if (grownBytes > MAX_HEAP_GROWTH_BYTES) ledger.violate(`The heap of a replica grew by ${grownBytes} bytes`)
  for (const handle of ['timers', 'sockets'] as const) {
    const more = late[handle] - early[handle]
    if (more > MAX_MORE_HANDLES) ledger.violate(`A replica has ${more} more ${handle} than before`)
  }
}
