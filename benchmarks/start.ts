/**
 * Measures the time until the first `/health` and the memory after that,
 * compared with an empty server on the same runtime.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../dev/percentiles.ts'
import { ensureBundles } from '../dev/servers/bundles.ts'
import { residentMiB } from '../dev/servers/process-usage.ts'
import { bin, DENO_PERMISSIONS, workerdConfig } from '../dev/servers/runtimes.ts'
import { startEngine } from '../src/cli/dev/servers/engine.ts'
import { freePort } from '../src/cli/dev/servers/ports.ts'
import { startProcess } from '../src/cli/dev/servers/process.ts'

const TIMES = Number(process.argv[2] ?? 15)

const EMPTY = {
  node: `import { createServer } from 'node:http'
    createServer((_, response) => response.end('{"status":"ok"}')).listen(Number(process.env.SERVICE_PORT), '127.0.0.1')`,
  bun: `Bun.serve({ port: Number(process.env.SERVICE_PORT), hostname: '127.0.0.1', fetch: () => new Response('{"status":"ok"}') })`,
  // Not `process`, with which Deno's start would take half as long again.
  deno: `Deno.serve({ port: Number(Deno.env.get('SERVICE_PORT')), hostname: '127.0.0.1' }, () => new Response('{"status":"ok"}'))`,
  workerd: `export default { fetch: () => new Response('{"status":"ok"}') }`,
}

type Runtime = keyof typeof EMPTY

interface Start {
  healthMs: number
  residentMiB: number
}

const engine = await startEngine()
const bundles = await ensureBundles()
const folder = await mkdtemp(join(tmpdir(), 'portico-start-'))
try {
  for (const runtime of Object.keys(EMPTY) as Runtime[]) {
    const empty = join(folder, `${runtime}.js`)
    await writeFile(empty, EMPTY[runtime])
    const scripts = [join(bundles, `${runtime}.js`), empty]
    // The first start fills the disk cache and is not measured.
    for (const script of scripts) await startOnce(runtime, script)
    const starts: Start[][] = scripts.map(() => [])
    for (let turn = 0; turn < TIMES; turn++)
      for (const [index, script] of scripts.entries()) starts[index]?.push(await startOnce(runtime, script))
    printStarts(runtime, starts)
  }
} finally {
  await rm(folder, { recursive: true })
  await engine.stop()
}

async function startOnce(runtime: Runtime, script: string): Promise<Start> {
  const port = await freePort()
  const { command, args } = await commandOf(runtime, script, port)
  const startedAt = performance.now()
  const server = await startProcess({ command, args, env: environment(port) })
  try {
    while (!(await responds(port))) await new Promise((resolve) => setTimeout(resolve, 1))
    const healthMs = performance.now() - startedAt
    // After this time the engine's client is loaded and connected.
    await new Promise((resolve) => setTimeout(resolve, 1000))
    return { healthMs, residentMiB: residentMiB(server.pid) }
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

function printStarts(runtime: Runtime, [portico = [], empty = []]: Start[][]): void {
  for (const [title, unit, measured] of [
    ['first /health', 'ms', ({ healthMs }: Start) => healthMs],
    ['resident at rest', 'MiB', (start: Start) => start.residentMiB],
  ] as const) {
    const [ours, theirs] = [median(portico.map(measured)), median(empty.map(measured))]
    console.log(
      `${runtime.padEnd(8)} ${title.padEnd(18)} ${ours.toFixed(0)} ${unit}, empty ${theirs.toFixed(0)}, ratio ${(ours / theirs).toFixed(2)}`,
    )
  }
}
