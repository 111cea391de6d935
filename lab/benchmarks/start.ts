/**
 * Measures the time until the first `/health` and the memory after that, compared with an empty server on the same
 * runtime, or with the service without its front for agents.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { withoutMcp } from '../../dev/build/without-mcp.ts'
import { median, percentile } from '../../dev/percentiles.ts'
import { ensureBundles } from '../../dev/servers/bundles.ts'
import { startEngine } from '../../dev/servers/engine.ts'
import { startProcess } from '../../dev/servers/process.ts'
import { cpuMsOf, residentMiB } from '../../dev/servers/process-usage.ts'
import { bin, DENO_PERMISSIONS, workerdConfig } from '../../dev/servers/runtimes.ts'
import configs from '../../rolldown.config.ts'
import { freePort } from '../../src/cli/dev/servers/ports.ts'

const [times = '15', base = 'empty', only] = process.argv.slice(2)

const EMPTY = {
  node: `import { createServer } from 'node:http'
    createServer((_, response) => response.end('{"status":"ok"}')).listen(Number(process.env.SERVICE_PORT), '127.0.0.1')`,
  bun: `Bun.serve({ port: Number(process.env.SERVICE_PORT), hostname: '127.0.0.1', fetch: () => new Response('{"status":"ok"}') })`,
  // Not `process`, with which Deno's start would take half as long again.
  deno: `Deno.serve({ port: Number(Deno.env.get('SERVICE_PORT')), hostname: '127.0.0.1' }, () => new Response('{"status":"ok"}'))`,
  workerd: `export default { fetch: () => new Response('{"status":"ok"}') }`,
}

type Runtime = keyof typeof EMPTY

const RUNTIMES = (Object.keys(EMPTY) as Runtime[]).filter(
  (name) => only === undefined || only.split(',').includes(name),
)

interface Start {
  healthMs: number
  /** Until then, of all threads. */
  cpuMs: number
  residentMiB: number
}

const engine = await startEngine()
const folder = await mkdtemp(join(tmpdir(), 'portico-start-'))
try {
  const folders = base === 'empty' ? [await ensureBundles(), await emptyServers()] : await bundlesWithAndWithoutMcp()
  for (const runtime of RUNTIMES) {
    const scripts = folders.map((path) => join(path, `${runtime}.js`))
    // The first start fills the disk cache and is not measured.
    for (const script of scripts) await startOnce(runtime, script)
    const starts: Start[][] = scripts.map(() => [])
    for (let turn = 0; turn < Number(times); turn++) {
      const order = [...scripts.entries()]
      // In another order each time, so that none always follows the other.
      for (const [index, script] of turn % 2 === 0 ? order : order.reverse())
        starts[index]?.push(await startOnce(runtime, script))
    }
    printStarts(runtime, starts)
  }
} finally {
  await rm(folder, { recursive: true })
  await engine.stop()
}

async function emptyServers(): Promise<string> {
  const path = join(folder, 'empty')
  await mkdir(path)
  for (const [runtime, code] of Object.entries(EMPTY)) await writeFile(join(path, `${runtime}.js`), code)
  return path
}

/** Both are new, so that no earlier process has left compiled code of one of them in Node's cache. */
function bundlesWithAndWithoutMcp(): Promise<string[]> {
  const services = configs.filter(({ input }) => JSON.stringify(input).includes('src/service/runtime/'))
  return Promise.all(
    [null, withoutMcp()].map(async (plugin) => {
      const path = join(folder, plugin?.name ?? 'with-mcp')
      for (const config of services) {
        const bundle = await rolldown({ ...config, plugins: [plugin, config.plugins] })
        await bundle.write({ ...config.output, dir: path })
        await bundle.close()
      }
      return path
    }),
  )
}

async function startOnce(runtime: Runtime, script: string): Promise<Start> {
  const port = await freePort()
  const { command, args } = await commandOf(runtime, script, port)
  const startedAt = performance.now()
  const server = await startProcess({ command, args, env: environment(port) })
  try {
    while (!(await responds(port))) await new Promise((resolve) => setTimeout(resolve, 1))
    const healthMs = performance.now() - startedAt
    const cpuMs = cpuMsOf(server.pid)
    // After this time the engine's client is loaded and connected.
    await new Promise((resolve) => setTimeout(resolve, 1000))
    return { healthMs, cpuMs, residentMiB: residentMiB(server.pid) }
  } finally {
    await server.kill()
  }
}

async function commandOf(runtime: Runtime, script: string, port: number): Promise<{ command: string; args: string[] }> {
  switch (runtime) {
    case 'node':
      return { command: process.execPath, args: [script] }
    case 'bun':
      return { command: bin('bun'), args: [script] }
    case 'deno':
      return { command: bin('deno'), args: ['run', ...DENO_PERMISSIONS, script] }
    case 'workerd': {
      const config = join(folder, 'config.capnp')
      await writeFile(join(folder, 'worker.js'), await readFile(script))
      await writeFile(config, workerdConfig(port, Object.keys(environment(port))))
      return { command: bin('workerd'), args: ['serve', config] }
    }
  }
}

function environment(port: number): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    SERVICE_PORT: String(port),
    SERVICE_CATALOG_ID: 'start',
    SERVICE_ALLOW_ANONYMOUS: 'true',
    ENGINE_ADDRESS: engine.address,
    ENGINE_HTTP_URL: engine.httpUrl ?? '',
  }
}

/** Uses a new connection for each request. */
function responds(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, path: '/health', agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    sent.on('error', () => resolve(false))
    sent.end()
  })
}

function printStarts(runtime: Runtime, [portico = [], others = []]: Start[][]): void {
  for (const [title, unit, middle, measured] of [
    ['first /health', 'ms', median, ({ healthMs }: Start) => healthMs],
    // Linux counts it in hundredths of a second.
    ['CPU until then', 'ms', mean, ({ cpuMs }: Start) => cpuMs],
    ['resident at rest', 'MiB', median, (start: Start) => start.residentMiB],
  ] as const) {
    const [ours, theirs] = [portico.map(measured), others.map(measured)]
    const ratio = middle(ours) / middle(theirs)
    const paired = ours.map((value, turn) => value / (theirs[turn] ?? Number.NaN))
    const range = [0.25, 0.5, 0.75].map((share) => percentile(paired, share).toFixed(2))
    console.log(
      `${runtime.padEnd(8)} ${title.padEnd(18)} ${middle(ours).toFixed(1)} ${unit}, ${base} ${middle(theirs).toFixed(1)}, ratio ${ratio.toFixed(2)}; of pairs ${range.join(' ')}`,
    )
  }
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
