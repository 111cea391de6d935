/** One soak: load and faults for some minutes, then the histories, the checks and the report. */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, Connection } from '@temporalio/client'
import type { Inventory } from '../../dev/servers/print-inventory.ts'
import { workAtRest } from '../../test/support/open-gauges.ts'
import { check } from './checker.ts'
import { cliClient } from './clients/cli.ts'
import { httpClient } from './clients/http.ts'
import { porticoClient } from './clients/portico.ts'
import { injectFaults } from './faults.ts'
import { readHistories } from './histories.ts'
import { createRandom } from './random.ts'
import { createRecorder, type SoakClient } from './recorder.ts'
import type { SoakReport } from './report.ts'
import { runScenarios } from './scenarios.ts'
import type { Violation } from './violation.ts'
import { startWorld, type World } from './world.ts'

export interface SoakOptions {
  minutes: number
  seed: number
  /** Of the record and the report. */
  folder: string
  /** The load also continues until there are so many operations: a busy machine takes longer for them. */
  minOperations: number
  /** Whether replicas, workers and the engine are replaced, too. */
  causesOutages: boolean
  /** Which of `http`, `portico` and `cli` take part. */
  clients: readonly string[]
  /** Whether the memory, timers and sockets of a replica are compared, which takes more than two minutes. */
  measuresGrowth: boolean
  print(line: string): void
}

// Two cores run the engine, the workers and two replicas too.
const CLIENTS = 8
// Of the time, until memory is measured for the first time.
const WARM_UP = 0.2
// The service closes the idle connections of the clients after 65 s.
const SETTLED_MS = 70_000
const MAX_HEAP_GROWTH_BYTES = 6 * 2 ** 20
const MAX_MORE_HANDLES = 10

export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  const { minutes, seed, folder, measuresGrowth, print } = options
  const world = await startWorld(seed)
  const recordFile = join(folder, `record-${seed}.jsonl`)
  const recorder = createRecorder(recordFile)
  const stopped = new AbortController()
  const faults = injectFaults(world, createRandom(seed + 1), options, stopped.signal)
  faults.ended.catch(() => {}) // Awaited below.

  async function load(forMinutes: number, phase: number): Promise<void> {
    const endsAt = Date.now() + forMinutes * 60_000
    const { operations } = recorder.recording
    const progress = setInterval(() => print(`  ${operations.length} operations`), 30_000)
    const http = { name: 'http', send: httpClient(world.balancer.url) }
    const clients = clientsOf(world.balancer.url).filter(({ name }) => options.clients.includes(name))
    await Promise.all(
      Array.from({ length: CLIENTS }, async (_, number) => {
        const random = createRandom(seed + 2 + number + phase * CLIENTS)
        let ids = 0
        const newId = (kind: string) => `${kind}-${seed}-${phase}-${number}-${++ids}`
        const isOver = () => Date.now() >= endsAt && operations.length >= options.minOperations
        await runScenarios({ recorder, random, http, clients: [http, ...clients], newId }, isOver)
      }),
    )
    clearInterval(progress)
  }

  try {
    await load(measuresGrowth ? minutes * WARM_UP : minutes, 0)
    const early = measuresGrowth ? await settled(world) : null
    if (early !== null) await load(minutes * (1 - WARM_UP), 1)
    stopped.abort()
    await faults.ended
    const late = early === null ? null : await settled(world)
    const openWork = await workAtRest(world.openWork).catch((error: unknown) => [`no metrics: ${error}`])
    print('Reading the histories')
    await record(world, recorder)
    const inventories = early === null || late === null ? null : ([early, late] as const)
    return {
      seed,
      minutes,
      recordFile,
      recording: recorder.recording,
      violations: [
        ...check(recorder.recording).map((violation) => withSent(violation, world)),
        ...openWork.map((message) => ({ rule: 'not idle', message: `Without clients, a replica has ${message}` })),
        ...growth(inventories),
      ],
      faults: new Map([...faults.injected, ...world.balancer.losses]),
      inventories,
    }
  } finally {
    stopped.abort()
    await world.close()
  }
}

/** The command line takes a process for each operation, so fewer of them use it. */
function clientsOf(url: string): SoakClient[] {
  return [
    { name: 'http', send: httpClient(url) },
    { name: 'portico', send: porticoClient(url) },
    { name: 'portico', send: porticoClient(url) },
    { name: 'portico', send: porticoClient(url) },
    { name: 'cli', send: cliClient(url) },
  ]
}

async function record({ engineAddress }: World, recorder: ReturnType<typeof createRecorder>): Promise<void> {
  const connection = await Connection.connect({ address: engineAddress })
  try {
    await readHistories(new Client({ connection }), recorder.recording.operations, recorder.addRun)
  } finally {
    await connection.close()
  }
}

/** A violation whose cause is the engine has no more calls than the client has sent requests. */
function withSent({ marker, message, ...violation }: Violation, { sentCalls }: World): Violation {
  const sent = marker === undefined ? [] : sentCalls.with(marker)
  return { ...violation, message: sent.length === 0 ? message : `${message}; sent to the engine: ${sent.join(', ')}` }
}

async function settled({ steady }: World): Promise<Inventory> {
  await pause(SETTLED_MS)
  return steady.inventory()
}

function growth(inventories: readonly [Inventory, Inventory] | null): Violation[] {
  if (inventories === null) return []
  const [early, late] = inventories
  const grownBytes = late.heapBytes - early.heapBytes
  const violations: Violation[] = []
  if (grownBytes > MAX_HEAP_GROWTH_BYTES)
    violations.push({ rule: 'growth', message: `The heap of a replica grew by ${grownBytes} bytes` })
  for (const handle of ['timers', 'sockets'] as const) {
    const more = late[handle] - early[handle]
    if (more > MAX_MORE_HANDLES) violations.push({ rule: 'growth', message: `A replica has ${more} more ${handle}` })
  }
  return violations
}
