import { fileURLToPath } from 'node:url'
import { exitSignal } from '../../src/cli/dev/servers/process.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import type { Inventory } from './print-inventory.ts'
import { startProcess } from './process.ts'

/** Starts the service on Node, and prints its memory, timers and sockets after each SIGUSR2. */
export const OBSERVED_ENTRY = fileURLToPath(new URL('./observed-service.ts', import.meta.url))

export interface ObservedService {
  url: string
  pid: number
  /** Everything that the service has printed. */
  lines: readonly string[]
  /** Aborts when the process has exited, with its output as the reason. */
  died: AbortSignal
  /** Memory, timers and sockets of the service, after a garbage collection. */
  inventory(): Promise<Inventory>
  kill(): Promise<void>
}

export interface ObservedServiceOptions {
  address: string
  catalog: string
  /** Maximum size of the heap, in MiB. Default: that of Node, which depends on the memory of the machine. */
  maxHeapMebibytes?: number
  /** More variables. */
  env?: Record<string, string>
  /** Another server to run instead. It prints its URL as the service does, and imports `print-inventory.ts`. */
  entry?: string
}

/** The service on Node, as a process whose memory can be measured. Resolves when it listens. */
export async function startObservedService(options: ObservedServiceOptions): Promise<ObservedService> {
  const { address, catalog, maxHeapMebibytes, env, entry = OBSERVED_ENTRY } = options
  const lines: string[] = []
  const service = await startProcess({
    command: process.execPath,
    args: [...(maxHeapMebibytes === undefined ? [] : [`--max-heap-size=${maxHeapMebibytes}`]), '--expose-gc', entry],
    env: { PATH: process.env.PATH, SERVICE_PORT: '0', SERVICE_CATALOG_ID: catalog, ENGINE_ADDRESS: address, ...env },
    onLine: (line) => void lines.push(line),
  })
  const died = exitSignal(service, 'The service')
  const url = await until('the service listens', () => /"url":"([^"]+)"/.exec(lines.join('\n'))?.[1], {
    signal: died,
  })
  return {
    url,
    pid: service.pid,
    lines,
    died,
    async inventory() {
      died.throwIfAborted()
      const seen = lines.length
      process.kill(service.pid, 'SIGUSR2')
      const line = await until(
        'the service prints its inventory',
        () => lines.slice(seen).find((it) => it.includes('"inventory"')),
        { signal: died },
      )
      return JSON.parse(line)
    },
    kill: async () => void (await service.kill()),
  }
}
