/** How many workflows a bulk starts per second, and what each costs, beside 32 connections of single starts. */
import { startEngine } from '../../dev/servers/engine.ts'
import { cpuMsOf } from '../../dev/servers/process-usage.ts'
import type * as workflows from '../../dev/servers/waiting-workflows.ts'
import { startWorker } from '../../dev/servers/worker.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { bulk } from '../../src/client/requests/bulk.ts'
import { defineCatalog } from '../../src/worker/catalog/define-catalog.ts'
import { connect, exchange } from './requests/load.ts'
import { startPortico, UNLIMITED } from './requests/targets.ts'

const ROUNDS = Number(process.argv[2] ?? 3)
const STARTS = Number(process.argv[3] ?? 2000)
const CONNECTIONS = 32
const CATALOG = 'bulk'

const engine = await startEngine({ dynamicConfig: UNLIMITED })
const worker = await startWorker({
  address: engine.address,
  taskQueue: CATALOG,
  workflowsPath: new URL('../../dev/servers/waiting-workflows.ts', import.meta.url),
  catalog: defineCatalog<typeof workflows>({ echo: {}, waitForSignal: {} }),
})
// The catalog stays published. Without a worker only the start itself is measured.
await worker.stop()
const service = await startPortico('node', engine, CATALOG, { SERVICE_LOG_LEVEL: 'error' })
const { port, pid } = service
const line = { workflowName: 'echo', input: null, startDelay: '1h' }

try {
  await until('a workflow starts', () => single(1).then(() => true))
  console.log(
    `${STARTS} starts in each round\n\n| | Starts per second | CPU of the service, ms for each | CPU of the client |`,
  )
  console.log('|---|---|---|---|')
  for (let round = 0; round < ROUNDS; round++) {
    await measure(`${CONNECTIONS} connections`, () => single(STARTS))
    await measure('One bulk', bulkOf)
  }
} finally {
  await service.kill()
  await engine.kill()
}

async function single(count: number): Promise<void> {
  const { agent, close } = connect()
  let left = count
  const connection = async () => {
    while (left-- > 0) await exchange(port, { method: 'POST', path: '/workflow/start', body: line }, agent)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, connection))
  close()
}

async function bulkOf(): Promise<void> {
  const lines = Array.from({ length: STARTS }, () => line)
  for await (const { status, body } of bulk({ url: `http://127.0.0.1:${port}` }, lines))
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`)
}

async function measure(name: string, act: () => Promise<void>): Promise<void> {
  const [cpuBefore, ownBefore, startedAt] = [cpuMsOf(pid), process.cpuUsage(), performance.now()]
  await act()
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(ownBefore)
  const cells = [STARTS / seconds, (cpuMsOf(pid) - cpuBefore) / STARTS, (user + system) / 1000]
  console.log(`| ${name} | ${cells[0]?.toFixed(0)} | ${cells[1]?.toFixed(2)} | ${cells[2]?.toFixed(0)} ms |`)
}
