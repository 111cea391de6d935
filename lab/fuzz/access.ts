/** Random requests of tenants and of their access tokens, each compared with what the oracle says about it. */
import { CompleteAsyncError } from '@temporalio/activity'
import { Client, Connection, type WorkflowHandle } from '@temporalio/client'
import { startServiceProcess } from '../../dev/servers/service.ts'
import { startWorker } from '../../dev/servers/worker.ts'
import { until } from '../../src/cli/dev/servers/until.ts'
import { defineCatalog } from '../../src/worker/index.ts'
import { outcomeOf } from '../../test/unit/service/access/oracle.ts'
import { mayCreate } from '../../test/unit/service/access/oracle-scope.ts'
import { createRandom, type Random } from '../soak/random.ts'
import { batchEnded, listed } from './access-batches.ts'
import { type Caller, createCallers } from './access-callers.ts'
import { ACTIVITIES, CATALOG, CONTINUE, IDS, WORKFLOWS } from './access-names.ts'
import {
  type AccessRequest,
  aRequest,
  aScope,
  EVENT_STREAM,
  isOpen,
  isPublished,
  type KnownRun,
} from './access-requests.ts'
import { createSchedule, scheduledBy } from './access-schedules.ts'
import { describeActivity, mayUseType, openActivity } from './access-standalone.ts'
import type * as workflows from './access-workflows.ts'

export interface AccessOptions {
  /** `host:port` of an engine that nothing else uses. */
  address: string
  seed: number
  requests: number
}

interface Answer {
  /** `reached`: carried out, or an error that only those get who may send the request. */
  outcome: 'reached' | 403 | 404
  status: number
  body: Body
}

interface Body {
  error?: string
  token?: string
  runs?: Row[]
  count?: number
  workflows?: { name: string }[]
  workflowId?: string
  /** Of a batch, with how many runs it changes. */
  batchId?: string | null
  matching?: number
  activityId?: string
  activities?: { activityId: string; activityName: string }[]
  /** Of a stream, with the position in the next run of the chain. */
  items?: Item[]
  next?: string | null
}

interface Item {
  topic: string
  data: unknown
}

interface Row {
  workflowId: string
  workflowName: string
}

type Sent = Pick<AccessRequest, 'accept' | 'body'>
type Send = (credential: string, method: string, path: string, sent?: Sent) => Promise<Answer>

const REQUESTS_OF_CALLER = 6
// A mistake of this program, or of the service: neither says what a caller may do.
const UNEXPECTED = [400, 401, 405, 413, 422, 429, 500, 503]
// A run that cannot be reset to the event is a 400.
const isUnexpected = (path: string, status: number) =>
  UNEXPECTED.includes(status) && !(path.endsWith('/reset') && status === 400)

/** Returns the differences, each with what shows it, and how many requests had each outcome. */
export async function fuzzAccess({ address, seed, requests }: AccessOptions) {
  await using servers = new AsyncDisposableStack()
  const random = createRandom(seed)
  const { tenants, policy } = await createCallers(servers, random)
  const client = await startClient(servers, address)
  const send = await startSender(servers, address, policy)
  const counts: Record<string, number> = { reached: 0, 403: 0, 404: 0 }
  const differences: string[] = []
  let caller = random.pick(tenants)
  for (let n = 0; n < requests; n++) {
    const compare = (what: object, expected: unknown, actual: unknown) => {
      if (expected === actual) return
      const { rules, scope } = caller
      differences.push(JSON.stringify({ seed, request: n, expected, actual, ...what, scope, rules }))
    }
    if (n % REQUESTS_OF_CALLER === 0) {
      caller = random.pick(tenants)
      caller = await withToken(caller, random, send, compare)
    }
    if (random.chance(0.06)) await compareLists(client, send, caller, compare)
    const request = aRequest(random)
    const run = await prepare(client, random, request.workflowId)
    const found = await ofRequest(client, request, run)
    const before = request.isStandalone ? await ofStandalone(client, random, found) : found
    const { expected, method, path, body, accept, continues } = request
    const last = continues && before.status === 'RUNNING' ? await continueAsOther(client, before) : before
    const sent = path.replace(':run', before.runId)
    const answer = await send(caller.credential, method, sent, request)
    const shown = { method, path: sent, body, accept, before, last, answer }
    const outcome = expected(caller.rules, caller.scope, before)
    compare(shown, outcome, answer.outcome)
    compare({ unexpected: answer.status, ...shown }, false, isUnexpected(path, answer.status))
    counts[outcome] = (counts[outcome] ?? 0) + 1
    const compareShown: Compare = (what, ...values) => compare({ ...shown, ...what }, ...values)
    await check(client, caller, request, { before, last, answer }, compareShown)
    if (last !== before && answer.outcome === 'reached') compareChain(caller, last, answer, compareShown)
  }
  return { differences, counts }
}

const DENIALS: Readonly<Record<string, 403 | 404>> = {
  ForbiddenError: 403,
  WorkflowNotFoundError: 404,
  ActivityNotFoundError: 404,
  ScheduleNotFoundError: 404,
}

function toolErrorOf({ result }: { result?: { structuredContent?: { error?: { name: string } } } }) {
  return { error: result?.structuredContent?.error?.name }
}

type Compare = (what: object, expected: unknown, actual: unknown) => void

interface Seen {
  before: KnownRun
  last: KnownRun
  answer: Answer
}

/** What follows from the outcome: nothing has changed, or only what may be seen is shown. */
async function check(
  client: Client,
  caller: Caller,
  request: AccessRequest,
  seen: Seen,
  compare: Compare,
): Promise<void> {
  if (request.isStandalone) return checkStandalone(client, caller, request, seen, compare)
  if (request.batch !== undefined) return checkBatch(client, caller, request.batch, seen, compare)
  if (request.schedule === undefined) return checkRun(client, caller, request, seen, compare)
  const isReplaced = seen.answer.outcome === 'reached' && request.schedule.replaces !== undefined
  const expected = isReplaced ? request.schedule.replaces : seen.before.workflowName
  compare({ what: 'schedule' }, expected, await scheduledBy(client, request.workflowId))
}

async function checkBatch(
  client: Client,
  { rules, scope }: Caller,
  { mayChange }: NonNullable<AccessRequest['batch']>,
  { before, answer: { outcome, body } }: Seen,
  compare: Compare,
): Promise<void> {
  const handle = client.workflow.getHandle(before.workflowId)
  const changes = outcome === 'reached' && isOpen(before) && mayChange(rules, scope, before)
  if (outcome === 'reached') compare({ what: 'matching' }, Number(changes), body.matching)
  if (body.batchId) await batchEnded(client, body.batchId)
  if (changes) return void (await handle.terminate().catch(() => {})) // the batch may have ended it
  const { runId, status } = await describe(handle)
  compare({ what: 'a batch has changed the run' }, `${before.runId} ${before.status}`, `${runId} ${status}`)
}

async function checkStandalone(
  client: Client,
  { rules, scope }: Caller,
  { workflowId, body = {}, mayHave }: AccessRequest,
  { before, answer }: Seen,
  compare: Compare,
): Promise<void> {
  const { outcome, body: shown } = answer
  if (outcome !== 'reached') {
    const { runId, isOpen } = await describeActivity(client, workflowId)
    compare({ what: 'a refused request has changed the activity' }, `${before.runId} true`, `${runId} ${isOpen}`)
  } else if (mayHave && !('activityId' in body)) {
    const id = shown.activityId ?? ''
    compare({ what: 'generated id', id }, true, mayHave(rules, scope, id))
  }
  for (const { activityId, activityName } of shown.activities ?? [])
    compare({ what: 'listed', activityId }, true, mayUseType(rules, scope, activityName, { workflowId: activityId }))
}

async function checkRun(
  client: Client,
  { rules, scope }: Caller,
  { path, method, workflowId, body = {}, mayHave }: AccessRequest,
  { before, last, answer }: Seen,
  compare: Compare,
): Promise<void> {
  const handle = client.workflow.getHandle(workflowId)
  if (answer.outcome !== 'reached') {
    const { runId, status } = await describe(handle)
    compare({ what: 'a refused request has changed the run' }, `${last.runId} ${last.status}`, `${runId} ${status}`)
  } else if (path.endsWith('/catalog')) {
    const expected = WORKFLOWS.filter((name) => isPublished(rules, scope, name)).toSorted()
    compare({ what: 'catalog' }, `${expected}`, `${answer.body.workflows?.map(({ name }) => name).toSorted()}`)
  } else if (path.endsWith('/stream') && method === 'GET') {
    const { status, body } = answer
    if (status === 200 && before.status === 'RUNNING') compare({ what: 'items' }, before.workflowName, namesIn(body))
  } else if (mayHave && !('workflowId' in body)) {
    const id = answer.body.workflowId
    if (id === undefined) return // it has only validated the start
    compare({ what: 'generated id', id }, true, mayHave(rules, scope, id))
    await client.workflow.getHandle(id).terminate()
  } else if (path.endsWith('/stop') || JSON.stringify(body).includes('workflow_stop'))
    await handle.terminate().catch(() => {}) // the worker may have ended it already
}

/** The run, listed if a batch is to find it, with the workflow of the schedule if the request is about one. */
async function ofRequest(client: Client, { schedule, batch }: AccessRequest, run: KnownRun): Promise<KnownRun> {
  if (batch !== undefined) await listed(client, run)
  return schedule === undefined ? run : { ...run, workflowName: await scheduledBy(client, run.workflowId) }
}

/** The standalone activity of the id. Its type is as the workflow of a run. */
async function ofStandalone(client: Client, random: Random, run: KnownRun): Promise<KnownRun> {
  const { runId, activityName } = await openActivity(client, random, run.workflowId)
  return { ...run, runId, workflowName: activityName }
}

/** A stream that continues in the last run, read from the item of the first run on. */
function compareChain({ rules, scope }: Caller, last: KnownRun, { body }: Answer, compare: Compare): void {
  const { workflowId, workflowName } = last
  // What was published before is returned alone.
  if (body.items?.some(({ topic }) => topic === 'published')) return
  const mayFollow = outcomeOf(rules, scope, [{ verb: 'read', workflowId, workflowName, options: [] }]) === 'reached'
  const next = body.next === null ? 'end' : 'next'
  compare({ what: 'chain' }, mayFollow ? `${workflowName} next` : ' end', `${namesIn(body)} ${next}`)
}

/** The names of workflows that the items of a stream show. */
function namesIn({ items = [] }: Body): string {
  return items.flatMap(({ topic, data }) => (topic === 'names' ? [data] : [])).join()
}

/** Lists and counts have no run that the caller may not see, and each open run that it may see. */
async function compareLists(client: Client, send: Send, { credential, rules, scope }: Caller, compare: Compare) {
  const mayList = (workflowName: string, ofRun: { workflowId?: string } = {}) =>
    outcomeOf(rules, scope, [{ verb: 'list', ...ofRun, workflowName, options: [] }]) === 'reached'
  const maySee = ({ workflowId, workflowName }: Row) => mayList(workflowName, { workflowId })
  const list = () => send(credential, 'GET', '/workflow/runs?status=running&pageSize=1000')
  const { outcome } = await list()
  compare({ what: 'list' }, [...WORKFLOWS, 'another'].some((name) => mayList(name)) ? 'reached' : 403, outcome)
  const counted = await send(credential, 'GET', '/workflow/runs/count')
  compare({ what: 'count' }, outcome, counted.outcome)
  if (outcome !== 'reached') return
  const runs = await Promise.all(IDS.map((id) => describe(client.workflow.getHandle(id))))
  const expected = runs.filter((run) => run.status === 'RUNNING' && maySee(run))
  // The engine lists a run soon after its start.
  await until('the list has all open runs that its caller may see', async () => {
    const rows = (await list()).body.runs ?? []
    for (const row of rows) compare({ what: 'listed', row }, true, maySee(row))
    return expected.every(({ workflowId }) => rows.some((row) => row.workflowId === workflowId))
  }).catch((error: unknown) => compare({ what: String(error), expected }, true, false))
  const shown = { count: -1, visible: -1 }
  await until('the count has all open runs that its caller may see, and no other', async () => {
    shown.visible = 0
    for await (const { workflowId, type } of client.workflow.list({ query: 'ExecutionStatus="Running"' }))
      if (isOwn(type) && maySee({ workflowId, workflowName: type })) shown.visible++
    shown.count = (await send(credential, 'GET', '/workflow/runs/count?status=running')).body.count ?? -1
    return shown.count === shown.visible
  }).catch((error: unknown) => compare({ what: String(error), shown }, true, false))
}

/** Not that of the catalog. */
function isOwn(type: string): boolean {
  return WORKFLOWS.some((name) => name === type)
}

/** The caller with a token that it has created, if it may; sometimes itself. */
async function withToken(caller: Caller, random: Random, send: Send, compare: Compare): Promise<Caller> {
  const scope = aScope(random, caller.rules)
  const { status, body } = await send(caller.credential, 'POST', '/tokens', { body: scope })
  compare({ scope, body }, mayCreate(caller.rules, scope) ? 201 : 403, status)
  return random.chance(0.8) && body.token !== undefined ? { ...caller, credential: body.token, scope } : caller
}

/** The latest run of the id. Mostly it is open: of a random workflow, if it is a new one. */
async function prepare(client: Client, { chance, pick }: Random, workflowId: string): Promise<KnownRun> {
  const [renews, workflow] = [chance(0.6), pick(WORKFLOWS)]
  const run = await describe(client.workflow.getHandle(workflowId)).catch(() => null)
  if (run !== null && run.status !== 'RUNNING' && !renews) return run
  const options = { workflowId, taskQueue: CATALOG, workflowIdConflictPolicy: 'TERMINATE_EXISTING' as const }
  const isOpen = run?.status === 'RUNNING'
  return withActivities(isOpen ? client.workflow.getHandle(workflowId) : await client.workflow.start(workflow, options))
}

/** The run that continues it, of the other workflow. */
async function continueAsOther(client: Client, { workflowId, runId }: KnownRun): Promise<KnownRun> {
  const handle = client.workflow.getHandle(workflowId)
  await handle.signal(CONTINUE)
  await until('the run has continued', async () => (await describe(handle)).runId !== runId)
  return withActivities(handle)
}

/** The open run, once its workflow has scheduled its activities, also after one was completed. */
async function withActivities(handle: WorkflowHandle): Promise<KnownRun> {
  let run = await describe(handle)
  await until('the run has its activities', async () => {
    run = await describe(handle)
    return ACTIVITIES.every((id) => run.activities.includes(id))
  })
  return run
}

async function describe(handle: WorkflowHandle): Promise<KnownRun> {
  const { workflowId, runId, type, status, raw, memo } = await handle.describe()
  const activities = (raw.pendingActivities ?? []).map(({ activityId }) => activityId ?? '')
  const asks = Object.keys(memo?.$asks ?? {})
  return { workflowId, runId, workflowName: type, status: status.name, activities, asks }
}

async function startClient(servers: AsyncDisposableStack, address: string): Promise<Client> {
  const completeLater = () => Promise.reject(new CompleteAsyncError())
  const worker = await startWorker({
    ...{ address, taskQueue: CATALOG, workflowsPath: new URL('./access-workflows.ts', import.meta.url) },
    activities: Object.fromEntries(ACTIVITIES.map((type) => [type, completeLater])),
    catalog: defineCatalog<typeof workflows>({ order: {}, admin: {} }),
    options: { debugMode: true },
  })
  servers.defer(() => worker.stop())
  const connection = await Connection.connect({ address })
  servers.defer(() => connection.close())
  const client = new Client({ connection })
  for (const workflowId of IDS) {
    await client.workflow.start('order', { workflowId, taskQueue: CATALOG })
    await createSchedule(client, workflowId)
  }
  return client
}

async function startSender(servers: AsyncDisposableStack, address: string, policy: object): Promise<Send> {
  const service = await startServiceProcess({
    ...{ address, catalog: CATALOG },
    env: {
      SERVICE_HOST: '127.0.0.1',
      SERVICE_PUBLIC_URL: 'https://portico.example',
      SERVICE_SIGNING_KEY: Buffer.alloc(32, 'key').toString('base64url'),
      SERVICE_POLICY: JSON.stringify(policy),
    },
  })
  servers.defer(async () => void (await service.kill()))
  return async (credential, method, path, { body, accept = 'application/json' } = {}) => {
    const response = await fetch(service.url + path, {
      method,
      headers: { Authorization: `Bearer ${credential}`, 'Content-Type': 'application/json', Accept: accept },
      ...(body && { body: JSON.stringify(body) }),
    })
    const { status } = response
    const answer = await bodyOf(response)
    // A tool returns its errors with status 200.
    const { error } = status === 403 ? { error: 'ForbiddenError' } : path === '/mcp' ? toolErrorOf(answer) : answer
    return { outcome: DENIALS[error ?? ''] ?? 'reached', status, body: answer }
  }
}

/** Of an event stream, the items among its first two events. */
async function bodyOf(response: Response): Promise<Body & Parameters<typeof toolErrorOf>[0]> {
  if (!response.headers.get('Content-Type')?.startsWith(EVENT_STREAM))
    return JSON.parse((await response.text()) || '{}')
  const items: Item[] = []
  let text = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    const events = text.split('\n\n').filter((event) => event.includes('event: '))
    if (events.length >= 2 && text.endsWith('\n\n')) break
  }
  for (const [, item = ''] of text.matchAll(/^event: item\ndata: (.*)$/gm)) items.push(JSON.parse(item))
  return { items }
}
