/**
 * What holds of every service when the tests of a file are over: it handles nothing, waits for nothing, and has logged
 * no error that a test did not announce. `setup.ts` checks it after each file, for every service that still runs.
 */
import { afterAll, aroundAll } from 'vitest'
import type { Inventory } from '../../dev/servers/print-inventory.ts'
import { hasExited } from '../../dev/servers/process.ts'
import type { ServiceProcess } from '../../dev/servers/service.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { POLL } from './call-log.ts'
import type { FaultProxy } from './fault-proxy.ts'
import { openGauges, workAtRest } from './open-gauges.ts'

type Environment = Readonly<Record<string, string | undefined>>

interface WatchedService {
  name: string
  /** What it is doing, such as `portico_open_waits 1`. Empty when it is idle or has ended. */
  readWork(): Promise<string[]>
}

/** Where the metrics of a service are. */
interface Metrics {
  /** Null when the service has ended. */
  read(): Promise<string | null>
  /** Whether the request that reads them is one of the requests that they count. */
  countScrapes: boolean
}

interface WatchedFile {
  services: Set<WatchedService>
  announced: RegExp[]
  /** Lines of level error, and what a runtime prints about a bug. */
  errors: string[]
  maxGrowthBytes: number
}

const SCRAPE_TIMEOUT_MS = 10_000

// What Node prints about listeners that are never removed, and about an unhandled rejection.
const BUG = /MaxListenersExceededWarning|UnhandledPromiseRejection|ERR_UNHANDLED_REJECTION/

// 17 MB is the code that the first requests load. The rest is for caches, which have limits of their own.
const MAX_GROWTH_BYTES = 32_000_000

let file: WatchedFile = createFile()

function createFile(): WatchedFile {
  return { services: new Set(), announced: [], errors: [], maxGrowthBytes: MAX_GROWTH_BYTES }
}

/**
 * Lines of level error that match are expected in this test file. Name what only the announced error has, such as the
 * id of its workflow or its message.
 */
export function announceErrors(...patterns: RegExp[]): void {
  file.announced.push(...patterns)
}

/** Turns metrics on, on a port of their own, unless the test configures them. */
export function withMetrics(env: Readonly<Record<string, string>>): Record<string, string> {
  if (env.SERVICE_METRICS_ON !== undefined) return { ...env }
  return { SERVICE_METRICS_ON: 'true', SERVICE_METRICS_PORT: '0', ...env }
}

/** Watches the metrics of a service inside this process until the returned function is called. */
export function watchMetrics(name: string, metrics: Metrics): () => void {
  const { services } = file
  const service = { name, readWork: () => openWork(metrics) }
  services.add(service)
  return () => void services.delete(service)
}

/** How much larger the heap of a service may be after the tests of this file, which fill its caches. */
export function announceGrowth(bytes: number): void {
  file.maxGrowthBytes = bytes
}

/**
 * Watches the timers and the memory of a process that `observed-service.ts` runs. A loop that reads at intervals has a
 * timer, too.
 */
export async function watchProcess({
  url,
  pid,
  events,
}: Pick<ServiceProcess, 'url' | 'pid' | 'events'>): Promise<void> {
  const watched = file

  async function inventory(): Promise<Pick<Inventory, 'heapBytes' | 'timers'> | null> {
    const seen = events.length
    if (hasExited(pid)) return null
    process.kill(pid, 'SIGUSR2')
    const printed = () => events.slice(seen).find(({ message }) => message === 'inventory')
    const found = await until(`the service at ${url} prints its inventory`, () => hasExited(pid) || printed())
    return found === true ? null : { timers: Number(found.timers), heapBytes: Number(found.heapBytes) }
  }

  const before = await inventory()
  watched.services.add({
    name: `The service at ${url}`,
    async readWork() {
      const now = await inventory()
      if (now === null || before === null) return []
      // It connects again every 5 s until it can use the engine.
      const expected = events.some(({ message }) => message.startsWith('cannot use the engine yet')) ? 1 : 0
      const grownBytes = now.heapBytes - before.heapBytes
      return [
        ...(now.timers <= expected ? [] : [`timers ${now.timers}`]),
        ...(grownBytes <= watched.maxGrowthBytes ? [] : [`heap grown by ${grownBytes} bytes`]),
      ]
    },
  })
}

/** Watches the polls that reach the engine, also of a service without metrics (workerd). */
export function watchPolls({ calls }: Pick<FaultProxy, 'calls'>): void {
  const open = () => calls.open(POLL)
  file.services.add({
    name: 'The service behind the fault proxy',
    readWork: async () => (open() === 0 ? [] : [`${POLL} ${open()}`]),
  })
}

/** Watches the log of a service, and the service itself if it is a process with metrics. For `observeProcesses`. */
export function watchLines(env: Environment, hasEnded: () => boolean = () => false): ((line: string) => void) | null {
  if (!env.SERVICE_CATALOG_ID) return null
  const { services, errors } = file
  return (line) => {
    if (isError(line)) errors.push(line)
    const listening = listeningLine(line)
    if (listening === null || env.SERVICE_METRICS_ON !== 'true') return
    const { url, metricsUrl } = listening
    // Another program may listen on the port of a service that has ended.
    const read = async () => (hasEnded() ? null : scrape(metricsUrl ?? `${url}/metrics`, env))
    services.add({
      name: `The service at ${url}`,
      readWork: () => openWork({ read, countScrapes: metricsUrl === undefined }),
    })
  }
}

function isError(line: string): boolean {
  return line.startsWith('{"time"') ? line.includes('"level":"error"') : BUG.test(line)
}

function listeningLine(line: string): { url: string; metricsUrl?: string } | null {
  return line.startsWith('{"time"') && line.includes('"message":"listening"') ? JSON.parse(line) : null
}

async function scrape(url: string, { SERVICE_API_AUTH_TOKEN: tokens }: Environment): Promise<string | null> {
  const headers = tokens === undefined ? {} : { Authorization: `Basic ${tokens.split(',')[0]}` }
  try {
    const response = await fetch(url.replace('0.0.0.0', '127.0.0.1'), {
      headers,
      signal: AbortSignal.timeout(SCRAPE_TIMEOUT_MS),
    })
    return await response.text()
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError') throw error
    return null
  }
}

/** Registers the checks for the test file that is about to run. */
export function checkInvariants(): void {
  file = createFile()
  const checked = file
  let busy: string[] = []
  // Before the fixtures stop the services.
  afterAll(async () => {
    busy = (await Promise.all([...checked.services].map(untilIdle))).flat()
  })
  // After that: an error in a hook would keep the fixtures from being stopped.
  aroundAll(async (runFile) => {
    await runFile()
    const unexpected = checked.errors.filter((line) => !checked.announced.some((pattern) => pattern.test(line)))
    const violations = [...busy, ...unexpected.map((line) => `An error that no test announced: ${line}`)]
    if (violations.length > 0) throw new Error(`After the tests of this file:\n${violations.join('\n')}`)
  })
}

async function untilIdle({ name, readWork }: WatchedService): Promise<string[]> {
  return (await workAtRest(readWork)).map((it) => `${name} is not idle: ${it}`)
}

async function openWork({ read, countScrapes }: Metrics): Promise<string[]> {
  const text = await read()
  return text === null ? [] : openGauges(text, { countScrapes })
}
