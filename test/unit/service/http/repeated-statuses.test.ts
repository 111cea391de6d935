/** A status that HTTP clients repeat by themselves must not make them carry out a request twice. */
import { expect, test } from 'vitest'
import type { AnyVerb, VerbPorts } from '../../../../src/service/access/guard.ts'
import { ENDPOINTS } from '../../../../src/service/endpoints.ts'
import type { Endpoint } from '../../../../src/service/http/endpoint.ts'
import { PROBLEMS } from '../../../../src/service/http/errors.ts'
import type { AuditFacts, Call } from '../../../../src/service/model/call.ts'
import { type ErrorName, ServiceError, withoutRepeat } from '../../../../src/service/model/errors.ts'
import { bindVerbs } from '../../../../src/service/stack.ts'
import { VERBS } from '../../../../src/service/verbs.ts'
import { requestTo } from '../../../faults/endpoints.ts'
import { makeApi } from './api.ts'

/** Chromium and OkHttp repeat a 408, `curl --retry` and azure-core most others. */
const REPEATED: ReadonlySet<number> = new Set([408, 421, 425, 429, 500, 502, 503, 504])

/** What can be repeated without a key, with the reason. */
const SAFE = new Map<string, string>([
  ...['Workflow', 'Run'].flatMap((of): [string, string][] => [
    [`stop${of}`, 'a second request finds the run canceled'],
    [`terminate${of}`, 'a second request finds the run closed'],
    [`pause${of}`, 'a run is paused once'],
    [`unpause${of}`, 'a run is unpaused once'],
    [`query${of}`, 'reads'],
    [`heartbeat${of}Activity`, 'reports the same again'],
    [`answer${of}Question`, 'a question is answered once'],
    [`pause${of}Activity`, 'an activity is paused once'],
    [`unpause${of}Activity`, 'an activity is unpaused once'],
    [`set${of}Activity`, 'sets the same again'],
    [`set${of}Options`, 'sets the same again'],
    [`create${of}Link`, 'a link has no effect until it is used'],
  ]),
  ...['Activity', 'ActivityRun'].flatMap((of): [string, string][] => [
    [`stop${of}`, 'a second request finds the run canceled'],
    [`terminate${of}`, 'a second request finds the run closed'],
    [`heartbeat${of}`, 'reports the same again'],
  ]),
  ['pauseSchedule', 'a schedule is paused once'],
  ['unpauseSchedule', 'a schedule is unpaused once'],
  ['stopBatch', 'a batch is stopped once'],
  ['validateRequest', 'starts nothing'],
  ['answerLink', 'a link works once'],
  ['createToken', 'a token has no effect until it is used'],
  ['sendMcpMessage', 'errors are results of tools'],
  ['sendMcpMessageToCatalog', 'errors are results of tools'],
  ['receiveWebhook', 'an event has an id'],
  ['bulk', 'each line is a request with a status of its own'],
])

const RUN = { workflowId: 'w', runId: '01a1fc08-209f-7b9a-8706-ac054efcfc64' }
const NAMES = Object.keys(PROBLEMS) as ErrorName[]
// PUT and DELETE do the same again by definition: RFC 9110, section 9.2.2.
const changing = ENDPOINTS.filter(({ method }) => method === 'post' || method === 'patch')
const unsafe = changing.filter(({ id }) => !SAFE.has(id))

/** The service, each verb of which fails with its first use of a port. `done`: what it has done before, if anything. */
function failingApi(error: Error, done: Partial<AuditFacts> | null = null) {
  const ports = new Proxy({} as VerbPorts, {
    get(_, name) {
      if (name !== 'checksOutputs') throw error
    },
  })
  const decide: AnyVerb['decide'] = (_, input, call, act: (input: never, call: Call) => Promise<unknown>) => {
    if (done !== null) call.audit(done)
    return act(input, call)
  }
  const verbs = Object.fromEntries(Object.entries(VERBS).map(([name, verb]) => [name, { ...verb, decide }]))
  return makeApi({ workflows: bindVerbs(verbs as unknown as typeof VERBS, ports) })
}

type Failing = ReturnType<typeof failingApi>

const FORMS: Readonly<Record<string, string>>[] = [
  {},
  { Prefer: 'respond-async' },
  { Prefer: 'respond-async, wait=1' },
  { Accept: 'text/event-stream' },
]

async function statusesOf({ call }: Failing, endpoint: Endpoint, headers: Record<string, string> = {}) {
  const [method, path, body] = requestTo(endpoint, RUN)
  const answers = FORMS.map((form) => call(method, path, body, { ...form, ...headers }))
  return (await Promise.all(answers)).map(({ status }) => status)
}

const isRepeated = (status: number) => REPEATED.has(status)

test('repeated statuses: all endpoints that are safe to repeat exist, and the others take a key, are a reset, retry an activity or make a schedule act (threat 108)', () => {
  const ids = changing.map(({ id }) => id)

  expect([...SAFE.keys()].filter((id) => !ids.includes(id))).toEqual([])
  expect(unsafe.filter(({ key }) => key !== 'taken').map(({ id }) => id)).toEqual([
    ...['retryWorkflowActivity', 'retryRunActivity', 'resetWorkflow', 'resetRun'],
    ...['triggerSchedule', 'backfillSchedule'],
  ])
})

test('repeated statuses: no error of a request that may have been carried out has one (threat 108)', () => {
  const details = { ...RUN, mayHaveTakenEffect: true } as const
  const statuses = NAMES.map((name) => {
    const error = withoutRepeat(new ServiceError(name, 'lost', { details }))
    return [name, error instanceof ServiceError ? PROBLEMS[error.error].status : null] as const
  })

  expect(statuses.filter(([, status]) => status === null || REPEATED.has(status))).toEqual([])
})

test.for(NAMES)(
  'repeated statuses: %s after a possible effect has none without a key, at any endpoint (threat 108)',
  async (name) => {
    const details = { ...RUN, mayHaveTakenEffect: true } as const
    const api = failingApi(new ServiceError(name, 'lost', { details }))

    const statuses = await Promise.all(unsafe.map(async (endpoint) => [endpoint.id, await statusesOf(api, endpoint)]))

    expect(statuses.filter(([, found]) => Array.isArray(found) && found.some(isRepeated))).toEqual([])
  },
)

test.for(NAMES)('repeated statuses: with a key, or if nothing was carried out, %s keeps its status', async (name) => {
  const { status } = PROBLEMS[name]
  const keyed = unsafe.filter(({ key }) => key === 'taken')
  const uncertain = new ServiceError(name, 'lost', { details: { ...RUN, mayHaveTakenEffect: true } })
  const [maybeDone, undone] = [uncertain, new ServiceError(name, 'rejected', { details: RUN })].map((error) =>
    failingApi(error),
  )
  const key = { 'Idempotency-Key': 'one' }

  for (const endpoint of keyed) {
    const [withKey] = maybeDone === undefined ? [] : await statusesOf(maybeDone, endpoint, key)
    const [withoutKey] = undone === undefined ? [] : await statusesOf(undone, endpoint)
    expect([endpoint.id, withKey, withoutKey]).toEqual([endpoint.id, status, status])
  }
})

test('repeated statuses: a bug after an effect is a 424 with the ids, and an error in the log (threat 108)', async () => {
  for (const endpoint of unsafe) {
    const api = failingApi(new TypeError('a bug'), { action: String(endpoint.access), ...RUN })
    const [method, path, body] = requestTo(endpoint, RUN)

    const response = await api.call(method, path, body)

    expect([endpoint.id, response.status]).toEqual([endpoint.id, 424])
    expect(await response.json()).toMatchObject({ error: 'OutcomeUnknownError', ...RUN })
    expect(api.events.map(({ level }) => level)).toEqual(['error'])
  }
})

test('repeated statuses: after a bug, a batch that may be running is named', async () => {
  const batchId = `${'0'.repeat(16)}-${'0'.repeat(32)}`
  const api = failingApi(new TypeError('a bug'), { action: 'batch', batchId })

  const response = await api.call('POST', '/batches', { operation: 'stop', filter: {} })

  expect([response.status, await response.json()]).toMatchObject([424, { error: 'OutcomeUnknownError', batchId }])
})

test('repeated statuses: a bug before an effect, or with a key, is a 500', async () => {
  const before = failingApi(new TypeError('a bug'))
  const after = failingApi(new TypeError('a bug'), { action: 'start', ...RUN })
  const body = { workflowName: 'greet', input: 1 }

  const responses = [
    await before.call('POST', '/workflow/start', body),
    await after.call('POST', '/workflow/start', body, { 'Idempotency-Key': 'one' }),
  ]

  expect(responses.map(({ status }) => status)).toEqual([500, 500])
})
