/** One simulation: clients, gateways, a network with faults, and the model of the engine, all from one seed. */
import { createHash } from 'node:crypto'
import { check } from '../../lab/soak/checker.ts'
import { httpClient } from '../../lab/soak/clients/http.ts'
import { porticoClient } from '../../lab/soak/clients/portico.ts'
import type { Operation, RecordedRun, Recording } from '../../lab/soak/record.ts'
import type { Recorder } from '../../lab/soak/recorder.ts'
import { runScenarios, SCENARIOS, type Scenario } from '../../lab/soak/scenarios.ts'
import { CATALOG_ID, catalogRun, hasSeasonal } from './catalogs.ts'
import { checkAccess } from './check-access.ts'
import { checkAudit } from './check-audit.ts'
import { checkCatalogs, type PublishedCatalog } from './check-catalogs.ts'
import { checkErrors } from './check-errors.ts'
import { checkResponses } from './check-responses.ts'
import { checkStarts } from './check-starts.ts'
import { createClientNetwork, ORIGIN } from './client-network.ts'
import { CONTESTED } from './contested-ids.ts'
import { disturb } from './disturbances.ts'
import { createEngineModel } from './engine-model/engine-model.ts'
import type { Run } from './engine-model/run.ts'
import { createEngineNetwork } from './engine-network.ts'
import { type Exchange, markerOf } from './exchange.ts'
import { createGateways } from './gateways.ts'
import { restOf } from './invariants.ts'
import { leftOut } from './left-out.ts'
import type { Faults } from './profiles.ts'
import { pry } from './prying-client.ts'
import { randomOf } from './random.ts'
import { recordedRun } from './recorded-runs.ts'
import { soakWorker } from './soak-worker.ts'
import { createTenants } from './tenants.ts'
import { installVirtualTime, type VirtualTime } from './virtual-time.ts'
import { WAITED_FOR, waitingClients } from './waiting-clients.ts'

export interface Simulation {
  /** One sentence each. */
  violations: string[]
  operations: number
  requests: number
  calls: number
  virtualMs: number
  /** Of the trace, in hexadecimal. */
  hash: string
  /** What happened, in order. */
  trace: string[]
  /** What it cannot show. */
  leftOut: string[]
  /** How often each fault happened. */
  faults: Record<string, number>
  /** How many faults there were, with those that were left out. */
  faultCount: number
}

export interface SimulationOptions {
  seed: number
  faults: Faults
  /** Only these clients act. Default: all. */
  clients?: readonly number[]
  /** What the clients choose scenarios from. Default: all. */
  choices?: readonly [Scenario, ...Scenario[]]
  /** How many scenarios each client carries out. Default: 3. */
  scenarios?: number
  /** Whether other clients wait for runs, and gateways end and start. Default: both. */
  disturbs?: boolean
  /** Only these faults of the network happen, by their numbers. Default: all. */
  onlyFaults?: ReadonlySet<number> | null
}

export const CLIENTS: readonly number[] = [0, 1, 2]

// Few, so that waits compete for them.
const MAX_POLLS = 4

const ENV = {
  ENGINE_ADDRESS: 'engine:7233',
  SERVICE_CATALOG_ID: CATALOG_ID,
  SERVICE_ALLOW_ANONYMOUS: 'true',
  SERVICE_METRICS_ON: 'true',
  // So that no scrape needs a right.
  SERVICE_METRICS_PORT: '9464',
  SERVICE_MAX_POLLS: String(MAX_POLLS),
  SERVICE_SIGNING_KEY: 's'.repeat(43),
}

const ALL = { supported: true } as const
const features = { slashInIds: ALL, updateWithStart: ALL, asyncUpdates: ALL }
const ALL_SCENARIOS = [...SCENARIOS, ...CONTESTED] as const
const HOUR_MS = 3_600_000
// Of so many seeds, one looks for requests in memory.
const MEMORY_EVERY = 10

export async function simulate(options: SimulationOptions): Promise<Simulation> {
  const time = installVirtualTime(options.seed)
  const realFetch = globalThis.fetch
  try {
    return await simulateIn(time, options)
  } finally {
    globalThis.fetch = realFetch
    time.restore()
  }
}

async function simulateIn(
  time: VirtualTime,
  {
    seed,
    faults,
    clients = CLIENTS,
    choices = ALL_SCENARIOS,
    scenarios = 3,
    disturbs = true,
    onlyFaults = null,
  }: SimulationOptions,
): Promise<Simulation> {
  const trace: string[] = []
  const counts: Record<string, number> = {}
  const log = (event: string) => void trace.push(`${time.now()} ${event}`)
  let faultNumber = 0
  let isAtRest = false
  const admitFault = (fault: string) => {
    const isWanted = !isAtRest && (onlyFaults === null || onlyFaults.has(faultNumber))
    faultNumber++
    if (isWanted) counts[fault] = (counts[fault] ?? 0) + 1
    return isWanted
  }
  const clock = { now: time.wallNow, after: (ms: number, act: () => void) => time.after(ms, act, 'engine') }
  const workers = { isPolling: true }
  const engine = createEngineModel({
    clock,
    random: randomOf(seed, 'engine'),
    worker: soakWorker(randomOf(seed, 'worker')),
    isPolling: () => workers.isPolling,
  })
  const catalogs: PublishedCatalog[] = []
  const publishCatalog = () => {
    const number = catalogs.length
    catalogs.push({ at: time.now(), hasSeasonal: hasSeasonal(number) })
    void engine.call('startWorkflowExecution', catalogRun(number), new AbortController().signal)
  }
  publishCatalog()
  const world = { seed, time, faults, log, admitFault }
  const tenants = createTenants(seed)
  const toEngine = createEngineNetwork({ ...world, engine, features })
  const { maxSkewMs } = faults
  const random = randomOf(seed, 'gateways')
  const gateways = createGateways({ time, random, network: toEngine, tenants, env: ENV, maxSkewMs, log })
  const { credentialOf } = tenants
  const toGateways = createClientNetwork({ ...world, peers: () => gateways.all(), credentialOf })
  const neverEnding = Array.from({ length: MAX_POLLS }, (_, number) => `${WAITED_FOR}${seed}-open-${number}`)
  for (const workflowId of neverEnding)
    void engine.call('startWorkflowExecution', ledgerRun(workflowId), new AbortController().signal)

  const recording: Recording = { operations: [], runs: [] }
  const recorder = recorderOf(recording, log)
  globalThis.fetch = toGateways.fetch
  const http = { name: 'http', send: httpClient(ORIGIN) }
  const portico = () => ({ name: 'portico', send: porticoClient(ORIGIN) })
  const failures: string[] = []
  let active = 0
  const run = (owner: string, act: () => Promise<void>) => {
    active++
    const work = time.as(owner, act)
    work.catch((error: Error) => failures.push(`${owner}: ${error.stack}`)).finally(() => active--)
  }

  const stable = gateways.start()
  gateways.start()
  await time.as(stable.name, () => tenants.delegate(stable.fetch))
  for (const number of clients) {
    let left = scenarios
    let ids = 0
    const newId = (kind: string) => `${kind}-${seed}-${number}-${++ids}`
    const context = { recorder, random: randomOf(seed, `client ${number}`), http, newId }
    run(`client-${number}`, () =>
      runScenarios({ ...context, clients: [http, portico(), portico()] }, () => left-- <= 0, choices),
    )
  }
  if (disturbs) for (const wait of waitingClients(seed, time)) run('waiting', wait)
  const isOver = () => active === 0
  if (disturbs)
    for (const client of ['client-0', 'client-1', 'client-2'])
      run(client, () => pry({ seed, client, time, tenants, runs: engine.runs }))
  if (disturbs) disturb({ ...world, gateways, stable, engine: toEngine, workers, tenants, publishCatalog, isOver })

  if (!(await time.run(isOver, HOUR_MS))) failures.push('clients still wait after an hour')
  const virtualMs = time.now()
  isAtRest = true
  failures.push(
    ...(await restOf(gateways, { time, tenants, openRuns: neverEnding, readsMemory: seed % MEMORY_EVERY === 0 })),
  )
  const isOfScenario = ({ type, workflowId }: Run) => !type.startsWith('$') && !workflowId.startsWith(WAITED_FOR)
  recording.runs.push(...[...engine.runs.values()].filter(isOfScenario).map(recordedRun))
  const { exchanges } = toGateways
  for (const operation of recording.operations) {
    if (isOfCopy(operation, exchanges, recording.runs)) operation.outcome = 'unknown'
  }
  const violations = [
    ...failures,
    ...check(recording).map(({ rule, message }) => `${rule}: ${message}`),
    ...checkErrors(recording, toEngine.unread).map((message) => `untrue error: ${message}`),
    ...checkResponses(exchanges, engine.runs),
    ...checkStarts(exchanges, toEngine.returned, engine.runs),
    ...checkCatalogs(exchanges, catalogs),
    ...checkAccess(exchanges, engine.runs, tenants),
    ...checkAudit(exchanges, gateways.audit, { runs: engine.runs, tenants }),
  ]
  const hash = createHash('sha256').update(trace.join('\n')).digest('hex')
  const operations = recording.operations.length
  return {
    violations,
    operations,
    requests: exchanges.length,
    calls: engine.calls(),
    virtualMs,
    hash,
    trace,
    leftOut: leftOut(engine),
    faults: counts,
    faultCount: faultNumber,
  }
}

/**
 * Whether a proxy has sent the start twice, and the id was in use for a run of another request when the second copy
 * arrived: then its key is forgotten, and the error is about that copy alone.
 */
function isOfCopy(
  { outcome, marker, answer }: Operation,
  exchanges: readonly Exchange[],
  runs: RecordedRun[],
): boolean {
  if (outcome !== 'rejected' || !answer.error?.startsWith('WorkflowAlreadyStartedError')) return false
  const other = runs.find(({ runId }) => runId === answer.runId)
  const isOther = other !== undefined && other.startMarker !== marker
  return isOther && exchanges.some((exchange) => exchange.isDuplicated && markerOf(exchange) === marker)
}

function recorderOf(recording: Recording, log: (event: string) => void): Recorder {
  return {
    recording,
    addRun: (run) => void recording.runs.push(run),
    async perform({ name, send }, intent) {
      const startedAt = Date.now()
      const performed = await send(intent)
      const { op, workflowId, runId, key, marker } = intent
      const ids = { workflowId, ...(runId !== undefined && { runId }), ...(key !== undefined && { key }) }
      const times = { startedAt, endedAt: Date.now() }
      const operation: Operation = { type: 'operation', client: name, op, ...ids, marker, ...times, ...performed }
      recording.operations.push(operation)
      log(`${name} ${op} ${marker} ${performed.outcome} ${JSON.stringify(performed.answer)}`)
      return performed
    },
  }
}

function ledgerRun(workflowId: string): object {
  return { workflowId, workflowType: { name: 'ledger' }, taskQueue: { name: CATALOG_ID }, requestId: workflowId }
}
