/**
 * Does a request cost more than in another version? Compares the CPU time of `GET status` with a token of several
 * builds, with sockets and an engine: `builds.ts <rounds> <folder>…`. Each folder is a checkout after `npm run build`.
 */
import { join, resolve } from 'node:path'
import { percentile } from '../../dev/percentiles.ts'
import { startEngine } from '../../dev/servers/engine.ts'
import { startProcess } from '../../dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { connect, type Exchange, exchange, measureLoad } from './requests/load.ts'
import { type RunningTarget, startBuild, UNLIMITED } from './requests/targets.ts'

const [rounds = '100', ...folders] = process.argv.slice(2)
const CATALOG = 'builds'
const TOKEN = 'token-of-the-benchmark'
const CONCURRENCY = 32
const WARM_UP_MS = 5000
const TURN_MS = 1000

if (folders.length === 0) throw new Error('Name the folders to compare: node lab/benchmarks/builds.ts 100 ../before .')
const engine = await startEngine({ dynamicConfig: UNLIMITED })
const worker = await startProcess({
  command: process.execPath,
  args: ['examples/worker.ts'],
  env: { PATH: process.env.PATH, SERVICE_CATALOG_ID: CATALOG, ENGINE_ADDRESS: engine.address },
})
const builds: { folder: string; target: RunningTarget; cpuMs: number[] }[] = []
try {
  // The first one again shows how much of a difference is chance.
  for (const folder of [...folders.slice(0, 1), ...folders]) {
    const script = join(resolve(folder), 'dist/node.js')
    builds.push({ folder, target: await startBuild(script, engine, CATALOG, TOKEN), cpuMs: [] })
  }
  const request = await statusOfAnOpenRun()
  const measure = async (target: RunningTarget, durationMs: number) =>
    (await measureLoad(target, () => request, { concurrency: CONCURRENCY, durationMs })).cpuMs
  for (const { target } of builds) await measure(target, WARM_UP_MS)
  for (let left = Number(rounds); left > 0; left--)
    for (const build of builds.toSorted(() => Math.random() - 0.5))
      build.cpuMs.push(await measure(build.target, TURN_MS))
  print()
} finally {
  await Promise.all([worker.kill(), ...builds.map(({ target }) => target.kill())])
  await engine.kill()
}

async function statusOfAnOpenRun(): Promise<Exchange> {
  const { port } = (builds[0] as (typeof builds)[number]).target
  const { agent, close } = connect()
  const body = { workflowName: 'order', input: { orderId: '1', amount: 500, card: '4242' } }
  const started = await until('an order starts', () =>
    exchange(port, { method: 'POST', path: '/workflow/start', body, token: TOKEN }, agent).catch(() => null),
  )
  close()
  // Whatever the worker does would be measured, too.
  await worker.kill()
  const { workflowId } = JSON.parse(started) as { workflowId: string }
  return { method: 'GET', path: `/workflow/${workflowId}/status`, token: TOKEN }
}

function print(): void {
  const [first] = builds as [(typeof builds)[number]]
  console.log('| Build | CPU time, median | Ratio to the first (middle half) |\n|---|---|---|')
  for (const { folder, cpuMs } of builds) {
    const ratios = cpuMs.map((ms, round) => ms / (first.cpuMs[round] ?? Number.NaN))
    const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => percentile(ratios, share).toFixed(3))
    console.log(`| ${folder} | ${(percentile(cpuMs, 0.5) * 1000).toFixed(0)} µs | ${middle} (${low}–${high}) |`)
  }
}
