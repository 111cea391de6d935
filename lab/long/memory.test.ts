/** Resident memory during 200 000 calls of the engine over TLS. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe } from 'vitest'
import { median } from '../../dev/percentiles.ts'
import { startProcess } from '../../dev/servers/process.ts'
import { bin } from '../../dev/servers/runtimes.ts'
import { startTcpProxy } from '../../dev/servers/tcp-proxy.ts'
import type { MemorySample } from '../../test/support/call-loop.ts'
import { makeCertificates } from '../../test/support/certificates.ts'
import { testWithOwnEngine } from '../../test/support/fixtures.ts'

const CALLS = 200_000
// Code is loaded and compiled, and the heap grows to the size that it keeps.
const WARM_UP_CALLS = 50_000
// A slow machine makes fewer calls in this time, but never fewer than the minimum.
// With fewer, a leak would be less than the noise.
const BUDGET_MS = 400_000
const MIN_CALLS = 100_000
const CALLS_PER_LINE = 25_000
const TEST_TIMEOUT_MS = 1_800_000

const MEGABYTE = 1_000_000
const MAX_GROWTH = { bytes: MEGABYTE, calls: 100_000 }

const SCRIPT = fileURLToPath(new URL('../../test/support/call-loop.ts', import.meta.url))

// In a larger space for new objects, V8 keeps up to 32 MB more or less of garbage.
const V8_FLAGS = ['--expose-gc', '--max-semi-space-size=2']

// What a garbage collector returns to the system, and when, differs from one sample to the next:
// by how much was measured.
const RUNTIMES = [
  { name: 'Node', command: [process.execPath, ...V8_FLAGS], noiseBytes: 2 * MEGABYTE },
  { name: 'Bun', command: [bin('bun')], noiseBytes: 4 * MEGABYTE },
  {
    name: 'Deno',
    command: [bin('deno'), 'run', '--allow-all', '--node-modules-dir=manual', `--v8-flags=${V8_FLAGS.join()}`],
    noiseBytes: 5 * MEGABYTE,
  },
]

// The engine's own limits are far below what a client can send.
const test = testWithOwnEngine({ dynamicConfig: { 'frontend.rps': 1_000_000 } })

describe.concurrent('memory', () => {
  test.for(RUNTIMES)(
    'calls over TLS leave nothing in memory: $name',
    { timeout: TEST_TIMEOUT_MS },
    async ({ name, command: [command = '', ...args], noiseBytes }, { engine, folder, cleanup, expect }) => {
      const { authority, server } = await makeCertificates()
      const ca = join(folder, `${name}.pem`)
      await writeFile(ca, authority.cert)
      const proxy = await startTcpProxy(engine.address, { tls: { ...server, ALPNProtocols: ['h2'] } })
      cleanup.defer(() => proxy.close())
      const samples: MemorySample[] = []
      const caller = await startProcess({
        command,
        args: [...args, SCRIPT, proxy.address, ca, ...[CALLS, BUDGET_MS, MIN_CALLS].map(String)],
        onLine: (line) => {
          if (!line.startsWith('{')) return
          const sample: MemorySample = JSON.parse(line)
          samples.push(sample)
          if (sample.calls % CALLS_PER_LINE === 0) console.log(`${name}: ${line}`)
        },
      })
      cleanup.defer(async () => void (await caller.kill()))

      expect(await caller.ended).toEqual({ code: 0, signal: null })

      expect(samples.at(-1)?.failed).toBe(0)
      expect(samples.at(-1)?.calls).toBeGreaterThanOrEqual(MIN_CALLS)
      const { bytes, calls } = growth(samples.filter((sample) => sample.calls >= WARM_UP_CALLS))
      console.log(`${name}: ${samples.at(-1)?.calls} calls; ${bytes} bytes more after ${calls} of them`)
      expect(bytes).toBeLessThan(noiseBytes + (MAX_GROWTH.bytes * calls) / MAX_GROWTH.calls)
    },
  )
})

/**
 * From the first third of the samples to the last one. A leak adds to the lowest and to the median of a third. Garbage
 * that is not returned yet, or returned once, moves only one of them.
 */
function growth(samples: readonly MemorySample[]): { bytes: number; calls: number } {
  const third = Math.floor(samples.length / 3)
  const between = (pick: (some: readonly MemorySample[]) => number) =>
    pick(samples.slice(-third)) - pick(samples.slice(0, third))
  const sizes = (some: readonly MemorySample[]) => some.map(({ residentBytes }) => residentBytes)
  return {
    bytes: Math.min(
      between((some) => Math.min(...sizes(some))),
      between((some) => median(sizes(some))),
    ),
    calls: between((some) => median(some.map(({ calls }) => calls))),
  }
}
