/** Random rules, scopes of access tokens and requests, and what the oracle says about each. */

import { READS_OF_RUN } from '../../test/faults/endpoints.ts'
import {
  activityOutcome,
  type OracleRequest,
  type OracleRule,
  type OracleScope,
  type Outcome,
  outcomeOf,
  startOutcome,
} from '../../test/unit/service/access/oracle.ts'
import { mayGenerate } from '../../test/unit/service/access/oracle-id.ts'
import { mayCreate } from '../../test/unit/service/access/oracle-scope.ts'
import type { Random } from '../soak/random.ts'
import { batch } from './access-batches.ts'
import { ACTIVITIES, CATALOG, HANDLERS, IDS, WORKFLOWS } from './access-names.ts'
import { putSchedule, schedule } from './access-schedules.ts'
import { listStandalone, mayUseType, onStandalone, startStandalone } from './access-standalone.ts'

/** The latest run of an id. */
export interface KnownRun {
  workflowId: string
  runId: string
  workflowName: string
  status: string
  /** Its open activities. */
  activities: string[]
  /** The keys of its questions, which are also the names of their signals. */
  asks: string[]
}

export interface AccessRequest {
  method: string
  /** `:run` stands for the run of the id. */
  path: string
  body?: object
  /** Default: JSON. */
  accept?: string
  workflowId: string
  /** The run, if it is open, continues as the other workflow before the request. */
  continues?: boolean
  expected(rules: OracleRule[], token: OracleScope | null, run: KnownRun): Outcome
  /** Whether it is about the schedule of the id, which has a workflow of its own. */
  schedule?: { replaces?: string }
  /** Of a batch: whether one rule allows it, and the same change of the run. */
  batch?: { mayChange(rules: OracleRule[], token: OracleScope | null, run: KnownRun): boolean }
  /** Whether it is about standalone activities: `workflowName` of its run is the type of that of the id. */
  isStandalone?: boolean
  /** Of a start: whether the rules allow it for the id. */
  mayHave?(rules: OracleRule[], token: OracleScope | null, workflowId: string): boolean
}

export const EVENT_STREAM = 'text/event-stream'
const PUBLISH = '__temporal_workflow_stream_publish'
const RUN_VERBS = ['start', 'read', 'list', 'signal', 'query', 'update']
const TOKEN_RIGHTS = [
  ...(['start', 'read', 'list', 'signal', 'query', 'update', 'stop', 'terminate', 'pause', 'reset', 'repair'] as const),
  ...(['signal:app*', 'signal:approve', 'query:set', 'update:app', 'update:*'] as const),
  ...(['complete', 'complete:app*', 'complete:set', 'repair:approve'] as const),
  ...(['activity', 'activity:app*', 'activity:set'] as const),
] as const
const RIGHTS = [...TOKEN_RIGHTS, 'link', 'schedule', 'schedule', 'batch', 'batch', '*'] as const
const PATTERNS = ['*', 'u:*', 'u:ada:*', 'u:ada*', 'u:ada:1', 'x'] as const
const NAMES = ['order', 'ord*', 'admin'] as const
const OPTIONS = ['memo', 'headers', 'summary', 'workflowIdConflictPolicy', 'priority'] as const
const OPTION_VALUES: Record<string, unknown> = { memo: { a: 1 }, headers: { a: 'b' }, summary: 'a' }

const ON_RUN = [
  ['stop', 'PATCH', 'stop'],
  ['terminate', 'POST', 'terminate'],
  ['pause', 'POST', 'pause'],
  ['pause', 'POST', 'unpause'],
  ['reset', 'POST', 'reset'],
  ...['result?timeout=1ms', ...READS_OF_RUN].map((path) => ['read', 'GET', path] as const),
] as const satisfies Row[]
type Row = readonly [verb: string, method: string, path: string]

const ON_ACTIVITY = [
  ['complete', 'POST', '/complete'],
  ['complete', 'POST', '/fail', { message: 'Failed' }],
  ['complete', 'POST', '/cancel'],
  ['complete', 'POST', '/heartbeat'],
  ['repair', 'POST', '/retry'],
  ['repair', 'POST', '/pause'],
  ['repair', 'POST', '/unpause'],
  ['repair', 'PATCH', '', { heartbeatTimeout: '1h' }],
  ['repair', 'PATCH', '', { taskQueue: CATALOG }],
  ['repair', 'PATCH', '', { taskQueue: 'other' }],
] as const satisfies ActivityRow[]
type ActivityRow = readonly [
  verb: string,
  method: string,
  path: string,
  body?: { taskQueue?: string; [name: string]: string | undefined },
]

const TOOLS = [
  ['read', 'result'],
  ['read', 'explain'],
  ['signal', 'signal'],
  ['query', 'query'],
  ['update', 'update'],
  ['stop', 'stop'],
] as const satisfies ToolRow[]
type ToolRow = readonly [verb: string, name: string]

function some<T>({ below, pick }: Random, from: readonly [T, ...T[]], max: number): T[] {
  return [...new Set(Array.from({ length: 1 + below(max) }, () => pick(from)))]
}

function aPart(random: Random, rights: readonly [string, ...string[]]): OracleRule {
  return {
    can: some(random, rights, 14),
    ...(random.chance(0.4) && { ids: some<string>(random, PATTERNS, 2) }),
    ...(random.chance(0.6) && { workflows: some<string>(random, NAMES, random.chance(0.3) ? 2 : 1) }),
    ...(random.chance(0.6) && { options: random.chance(0.5) ? ['*'] : some<string>(random, OPTIONS, 3) }),
  }
}

/** The rules of a tenant. Most may create access tokens. */
export function someRules(random: Random): OracleRule[] {
  const rules = Array.from({ length: 1 + random.below(3) }, () => ({
    ...aPart(random, RIGHTS),
    ...(random.chance(0.4) && { can: ['*'] }),
    ...(random.chance(0.2) && { catalogs: ['other'] }),
  }))
  return random.chance(0.9) ? [...rules, { can: ['delegate', ...some<string>(random, RIGHTS, 2)] }] : rules
}

/** What a token shall name: for the most part what its creator may pass on. */
export function aScope(random: Random, rules: OracleRule[]): OracleScope {
  const scopes = Array.from({ length: 20 }, () => aPart(random, TOKEN_RIGHTS))
  return scopes.find((scope) => mayCreate(rules, scope)) ?? aPart(random, TOKEN_RIGHTS)
}

export function aRequest(random: Random): AccessRequest {
  const workflowId = random.pick(IDS)
  const path = `/workflow/${encodeURIComponent(workflowId)}${random.chance(0.3) ? '/runs/:run' : ''}`
  const make = random.pick([
    onRun,
    onRun,
    message,
    message,
    tool,
    tool,
    activity,
    activity,
    stream,
    stream,
    publish,
    link,
    activityLink,
    start,
    start,
    start,
    catalog,
    answer,
    runOptions,
    schedule,
    schedule,
    putSchedule,
    onStandalone,
    onStandalone,
    startStandalone,
    listStandalone,
    batch,
    batch,
  ])
  return make(random, workflowId, path)
}

function onRun({ pick }: Random, workflowId: string, base: string): AccessRequest {
  const [verb, method, path] = pick<Row>(ON_RUN)
  return {
    ...{ method, path: `${base}/${path}`, workflowId },
    ...(method !== 'GET' && { body: verb === 'reset' ? { eventId: 4 } : {} }),
    expected: (rules, token, { workflowName }) =>
      outcomeOf(rules, token, [{ verb, workflowId, workflowName, options: [] }]),
  }
}

function message({ pick, chance }: Random, workflowId: string, base: string): AccessRequest {
  const [verb, handler, headers] = [pick(['signal', 'query', 'update']), pick(HANDLERS), chance(0.3)]
  return {
    ...{ method: 'POST', path: `${base}/${verb}/${handler}`, workflowId },
    body: { payload: 1, ...(headers && { headers: { a: 'b' } }) },
    expected: (rules, token, { workflowName }) =>
      outcomeOf(rules, token, [{ verb, handler, workflowId, workflowName, options: headers ? ['headers'] : [] }]),
  }
}

function activity({ pick, chance }: Random, workflowId: string, base: string): AccessRequest {
  const [verb, method, path, body = {}] = pick<ActivityRow>(ON_ACTIVITY)
  const activityId = chance(0.2) ? 'none' : pick(ACTIVITIES)
  const catalog = body.taskQueue && { catalog: body.taskQueue }
  return {
    ...{ method, path: `${base}/activities/${activityId}${path}`, workflowId, body },
    expected: (rules, token, run) =>
      outcomeOnActivity(run, activityId, (handler) =>
        outcomeOf(rules, token, [
          { verb, handler, workflowId, workflowName: run.workflowName, options: [], ...catalog },
        ]),
      ),
  }
}

/** Whoever may use some activities of a closed run learns that it is closed. */
function outcomeOnActivity(run: KnownRun, activityId: string, ofType: (type: string) => Outcome): Outcome {
  if (!isOpen(run) && HANDLERS.some((type) => ofType(type) === 'reached')) return 'reached'
  return activityOutcome(HANDLERS, run.activities.includes(activityId) ? activityId : null, ofType)
}

/** An event stream is read up to its second event, and a chain from its first run, until the next one has an item. */
function stream({ chance }: Random, workflowId: string, base: string): AccessRequest {
  const chain = { path: `/workflow/${encodeURIComponent(workflowId)}/stream?from=:run@0&wait=30s`, continues: true }
  const ofRun = { path: `${base}/stream`, ...(chance(0.5) && { accept: EVENT_STREAM }) }
  return {
    ...{ method: 'GET', workflowId, ...(chance(0.3) ? chain : ofRun) },
    expected: (rules, token, { workflowName }) =>
      outcomeOf(rules, token, [{ verb: 'read', workflowId, workflowName, options: [] }]),
  }
}

function publish(_: Random, workflowId: string, base: string): AccessRequest {
  return {
    ...{ method: 'POST', path: `${base}/stream`, workflowId, body: { topic: 'published', data: {} } },
    expected: (rules, token, { workflowName }) =>
      outcomeOf(rules, token, [{ verb: 'signal', handler: PUBLISH, workflowId, workflowName, options: [] }]),
  }
}

/** Whether the run asks is what only those learn who may read it, and may send some signal. */
function answer({ pick, chance }: Random, workflowId: string, base: string): AccessRequest {
  const [handler, isKnown] = [pick(HANDLERS), chance(0.8)]
  const key = isKnown ? handler : 'none'
  return {
    ...{ method: 'POST', path: `${base}/questions/${key}/answer`, workflowId, body: { content: {} } },
    expected(rules, token, { workflowName, asks }) {
      const ofAny = (handler: string) =>
        outcomeOf(rules, token, [{ verb: 'signal', handler, workflowName, options: [] }])
      if (HANDLERS.every((handler) => ofAny(handler) === 403)) return 403
      const ofRun = { workflowId, workflowName, options: [] }
      const outcome = outcomeOf(rules, token, [{ verb: 'read', ...ofRun }])
      if (outcome !== 'reached' || !asks.includes(key)) return outcome
      return outcomeOf(rules, token, [{ verb: 'signal', handler, ...ofRun }]) === 'reached' ? 'reached' : 403
    },
  }
}

function runOptions(_: Random, workflowId: string, base: string): AccessRequest {
  return {
    ...{ method: 'PATCH', path: `${base}/options`, workflowId, body: { priority: { priorityKey: 2 } } },
    expected: (rules, token, { workflowName }) =>
      outcomeOf(rules, token, [{ verb: 'repair', workflowId, workflowName, options: ['priority'] }]),
  }
}

/** A tool for runs. Who may use none of them gets a 403 before it is called. */
function tool({ pick }: Random, workflowId: string): AccessRequest {
  const [[verb, name], used] = [pick<ToolRow>(TOOLS), pick(HANDLERS)]
  const handler = verb === name && verb !== 'stop' ? { handler: used } : {}
  const given = {
    workflowId,
    ...(handler.handler && { [name]: used, payload: 1 }),
    ...(name === 'result' && { wait: '1ms' }),
  }
  return {
    ...{ method: 'POST', path: '/mcp', workflowId },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: `workflow_${name}`, arguments: given } },
    expected(rules, token, { workflowName }) {
      const mayUseSome = [...WORKFLOWS, 'another'].some((some) => mayUse(rules, token, [...RUN_VERBS, 'stop'], some))
      return mayUseSome ? outcomeOf(rules, token, [{ verb, ...handler, workflowId, workflowName, options: [] }]) : 403
    },
  }
}

function link({ pick }: Random, workflowId: string, base: string): AccessRequest {
  const [verb, handler] = [pick(['signal', 'update']), pick(HANDLERS)]
  return {
    ...{ method: 'POST', path: `${base}/links`, workflowId },
    body: { title: 'Yes?', [verb]: handler, choices: [{ label: 'Yes', payload: {} }] },
    expected: (rules, token, run) => linkOutcome(rules, token, run, { verb, handler }),
  }
}

function activityLink({ pick }: Random, workflowId: string, base: string): AccessRequest {
  const activityId = pick([...ACTIVITIES, 'none'])
  return {
    ...{ method: 'POST', path: `${base}/links`, workflowId },
    body: { title: 'Yes?', complete: { activityId }, choices: [{ label: 'Yes', payload: {} }] },
    expected: (rules, token, run) =>
      outcomeOnActivity(run, activityId, (handler) => linkOutcome(rules, token, run, { verb: 'complete', handler })),
  }
}

/** One rule must allow both. */
function linkOutcome(
  rules: OracleRule[],
  token: OracleScope | null,
  { workflowId, workflowName }: KnownRun,
  sent: { verb: string; handler: string },
): Outcome {
  const needed = { workflowId, workflowName, options: [] }
  const outcomes = rules.map((rule) =>
    outcomeOf([rule], token, [
      { verb: 'link', ...needed },
      { ...sent, ...needed },
    ]),
  )
  return (['reached', 404] as const).find((outcome) => outcomes.includes(outcome)) ?? 403
}

function start(random: Random, workflowId: string): AccessRequest {
  const [workflowName, handler] = [random.pick(WORKFLOWS), random.pick(HANDLERS)]
  const path = random.pick([
    'start',
    'start',
    'run',
    'validate',
    `signal-with-start/${handler}`,
    `update-with-start/${handler}`,
  ])
  const [kind = ''] = path.split('-')
  const policy = random.pick(['use-existing', 'terminate-existing', null])
  const given = random.chance(0.4) ? some<string>(random, ['memo', 'headers', 'summary'], 2) : []
  const conflictPolicy = ['start', 'run'].includes(path) ? policy : null
  const options = conflictPolicy === null ? given : [...given, 'workflowIdConflictPolicy']
  const needed = { workflowId, workflowName, options: [] }
  const requests: OracleRequest[] = [
    { verb: 'start', ...needed, options, catalog: CATALOG },
    ...(path === 'run' ? [{ verb: 'read', ...needed }] : []),
    ...(conflictPolicy === 'terminate-existing' ? [{ verb: 'terminate', ...needed }] : []),
    ...(path.includes('-')
      ? [{ verb: kind, handler, ...needed, options: given.filter((name) => name === 'headers') }]
      : []),
  ]
  const isGenerated = random.chance(0.25)
  const canMeet = !isGenerated && (path.includes('-') || conflictPolicy !== null)
  return {
    ...{ method: 'POST', path: `/workflow/${path}`, workflowId },
    body: {
      ...{ workflowName, input: 1, ...(!isGenerated && { workflowId }) },
      ...(conflictPolicy && { workflowIdConflictPolicy: conflictPolicy }),
      ...Object.fromEntries(given.map((name) => [name, OPTION_VALUES[name]])),
      ...(path === 'run' && { timeout: '1ms' }),
      ...(path.includes('-') && { payload: 1 }),
    },
    expected(rules, token, run) {
      if (isGenerated) return mayGenerate(rules, token, requests) ? 'reached' : 403
      return startOutcome(rules, token, requests, canMeet && isOpen(run) ? run.workflowName : null)
    },
    mayHave: (rules, token, id) =>
      outcomeOf(
        rules,
        token,
        requests.map((request) => ({ ...request, workflowId: id })),
      ) === 'reached',
  }
}

export function isOpen({ status }: KnownRun): boolean {
  return ['RUNNING', 'PAUSED'].includes(status)
}

function catalog(_: Random, workflowId: string): AccessRequest {
  return {
    ...{ method: 'GET', path: '/workflow/catalog', workflowId },
    expected: (rules, token) =>
      WORKFLOWS.some((name) => isPublished(rules, token, name)) ||
      HANDLERS.some((type) => mayUseType(rules, token, type, { catalog: CATALOG }))
        ? 'reached'
        : 403,
  }
}

/** Whether the catalog shows the workflow to the caller. */
export function isPublished(rules: OracleRule[], token: OracleScope | null, workflowName: string): boolean {
  return mayUse(rules, token, RUN_VERBS, workflowName)
}

function mayUse(rules: OracleRule[], token: OracleScope | null, verbs: string[], workflowName: string): boolean {
  const uses = verbs.flatMap((verb) => [{ verb }, ...HANDLERS.map((handler) => ({ verb, handler }))])
  return uses.some(
    (use) => outcomeOf(rules, token, [{ ...use, workflowName, options: [], catalog: CATALOG }]) === 'reached',
  )
}
