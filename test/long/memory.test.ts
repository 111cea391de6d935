/** Resident memory during 200 000 calls of the engine over TLS. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect } from 'vitest'
import { startProcess } from '../../dev/servers/process.ts'
import { bin } from '../../dev/servers/runtimes.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import { until } from '../../dev/servers/until.ts'
import type { MemorySample } from '../support/call-loop.ts'
import { makeCertificates } from '../support/certificates.ts'
import { testWithOwnEngine } from '../support/fixtures.ts'

const CALLS = 200_000
// Code is loaded and compiled, and the heap grows to the size that it keeps.
const WARM_UP_CALLS = 50_000
// A slow machine makes fewer calls in this time, and at least as many as it takes to see a leak.
const BUDGET_MS = 45_000
const MIN_CALLS = WARM_UP_CALLS + 20_000
const TIMEOUT_MS = 600_000

const MEGABYTE = 1_000_000
const MAX_GROWTH = { bytes: MEGABYTE, calls: 100_000 }

const SCRIPT = fileURLToPath(new URL('../support/call-loop.ts', import.meta.url))

// What a garbage collector returns to the system, and when, differs from one sample to the next: by how much was measured.
const RUNTIMES = [
  { name: 'Node', command: [process.execPath, '--expose-gc'], noiseBytes: 2 * MEGABYTE },
  { name: 'Bun', command: [bin('bun')], noiseBytes: 10 * MEGABYTE },
  {
    name: 'Deno',
    command: [bin('deno'), 'run', '--allow-all', '--node-modules-dir=manual', '--v8-flags=--expose-gc'],
    noiseBytes: 5 * MEGABYTE,
  },
]

// The engine's own limits are far below what a client can send.
const test = testWithOwnEngine({ dynamicConfig: { 'frontend.rps': 1_000_000 } })

describe.for(RUNTIMES)('memory: $name', ({ name, command: [command = '', ...args], noiseBytes }) => {
  test('calls over TLS leave nothing in memory', { timeout: TIMEOUT_MS + 30_000 }, async ({
    engine,
    folder,
    cleanup,
  }) => {
    const { authority, server } = await makeCertificates()
    const ca = join(folder, `${name}.pem`)
    await writeFile(ca, authority.cert)
    const proxy = await startTcpProxy(engine.address, { tls: { ...server, ALPNProtocols: ['h2'] } })
    cleanup.defer(() => proxy.close())
    const samples: MemorySample[] = []
    const caller = await startProcess({
      command,
      args: [...args, SCRIPT, proxy.address, ca],
      onLine: (line) => {
        if (line.startsWith('{')) samples.push(JSON.parse(line))
      },
    })
    cleanup.defer(async () => void (await caller.kill()))

    const isOverAt = Date.now() + BUDGET_MS
    const isEnough = ({ calls }: MemorySample) => calls >= (Date.now() < isOverAt ? CALLS : MIN_CALLS)
    const last = await until('there are enough calls', () => samples.findLast(isEnough), { timeoutMs: TIMEOUT_MS })
    await caller.kill()

    expect(last.failed).toBe(0)
    const { bytes, calls } = growth(samples.filter((sample) => sample.calls >= WARM_UP_CALLS))
    expect(bytes).toBeLessThan(noiseBytes + (MAX_GROWTH.bytes * calls) / MAX_GROWTH.calls)
  })
})

/** From the first third of the samples to the last one, by their medians. */
function growth(samples: readonly MemorySample[]): { bytes: number; calls: number } {
  const third = Math.ceil(samples.length / 3)
  const between = (pick: (sample: MemorySample) => number) =>
    median(samples.slice(-third).map(pick)) - median(samples.slice(0, third).map(pick))
  return { bytes: between(({ residentBytes }) => residentBytes), calls: between(({ calls }) => calls) }
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN
}
