/** Which right each endpoint needs: threats 15 and 21 of docs/access.md, and the rights of all endpoints. */
import { expect } from 'vitest'
import { ENDPOINTS } from '../../../src/service/endpoints.ts'
import type { Endpoint } from '../../../src/service/http/endpoint.ts'
import { POLICY_VERBS } from '../../../src/shared/access/policy-verbs.ts'
import type { Answer, Api } from '../../support/api.ts'
import { requestTo } from '../endpoints.ts'
import { bytesOf, historyLengthOf, rejectionOf, testWithCallers, tokenRule } from './callers.ts'

const RULES = [
  ...POLICY_VERBS.map((verb) => tokenRule(`only-${verb}`, { can: [verb], ids: ['own:*'], catalogs: ['*'] })),
  tokenRule('reader', { can: ['read', 'list'] }),
  tokenRule('narrow', { can: ['signal:ad*', 'query:state', 'update:set'] }),
  tokenRule('updates', { can: ['update'] }),
  tokenRule('starts-narrow', { can: ['start', 'signal:add', 'update:set'], ids: ['own:*'] }),
  tokenRule('all-but-read', { can: POLICY_VERBS.filter((verb) => verb !== 'read'), ids: ['own:*'] }),
]

const test = testWithCallers(RULES, { SERVICE_AUDIT: 'all', SERVICE_METRICS_ON: 'true' })

const PROTECTED = ENDPOINTS.filter(({ access }) => access !== null)

/** A request to the endpoint about a run that does not exist: whoever may send it gets an error, but no 403. */
async function ask(api: Api, endpoint: Endpoint): Promise<Answer> {
  const run = { workflowId: `own:${crypto.randomUUID()}`, runId: crypto.randomUUID() }
  const [method, path, body] = requestTo(endpoint, run)
  return api.call(method, path, body)
}

const nameOf = ({ method, path }: Endpoint) => `${method.toUpperCase()} ${path}`

/** The verbs that these endpoints need besides the declared one. */
const ALSO = new Map([
  ['runWorkflow', 'read'],
  ['signalWithStart', 'signal:add'],
  ['updateWithStart', 'update:set'],
  ['answerWorkflowQuestion', 'read'],
  ['answerRunQuestion', 'read'],
  // And the right to start its workflow.
  ['putSchedule', 'start'],
  // And each right that the token names, of which the error does not say which is missing.
  ['createToken', 'delegate'],
  ['createBatch', 'signal:add'],
  ['createWorkflowLink', 'signal:add'],
  // And the options that the request changes.
  ['setWorkflowOptions', 'repair'],
  ['setRunOptions', 'repair'],
  ['createRunLink', 'signal:add'],
])

const ON_RUNS = ['start', 'list', 'signal', 'query', 'update']

/** The verbs besides `read` of which one opens the endpoint. */
const OPENING = new Map<Endpoint['access'], readonly string[]>([
  ['catalog', [...ON_RUNS, 'activity']],
  ['tools', [...ON_RUNS, 'stop']],
])

test('with metrics as its only right a caller gets 403 on every endpoint but the public ones, /capabilities and /metrics (threat 15)', async ({
  callers: { as },
}) => {
  const metrics = as('only-metrics')

  const statuses = await Promise.all(
    PROTECTED.map(async (endpoint) => [nameOf(endpoint), (await ask(metrics, endpoint)).status]),
  )

  expect(statuses.filter(([, status]) => status !== 403)).toEqual([
    // Rejected for its type: test/faults/access/bulk.test.ts has its lines.
    ['POST /workflow/bulk', 415],
    ['GET /capabilities', 200],
    ['GET /metrics', 200],
  ])
})

test('no other endpoint is open to everyone, or to every caller (threat 1)', () => {
  const openTo = (access: Endpoint['access']) => ENDPOINTS.filter((one) => one.access === access).map(nameOf)

  expect(openTo(null).toSorted()).toEqual([
    'GET /console',
    'GET /console/:file',
    'GET /docs',
    'GET /docs/:file',
    'GET /health',
    // Answers only the challenges that a hook names: test/unit/service/fronts/hooks/events.test.ts.
    'GET /hooks/:hook',
    'GET /links/:token',
    'GET /ready',
    // Their requests carry a proof of their own:
    // test/faults/access/hooks.test.ts, test/faults/access/link-tokens.test.ts.
    'POST /hooks/:hook',
    'POST /links/:token',
  ])
  // Each line of a bulk needs the right of its single request.
  expect(openTo('any')).toEqual(['POST /workflow/bulk', 'GET /capabilities'])
})

test('the declared right is the one that the verb asks: it alone opens the endpoint, and no other does (threat 15)', async ({
  callers: { as, service },
}) => {
  const actions = new Map<unknown, string>()
  service.onLine((line) => {
    const { message, requestId, action } = JSON.parse(line)
    if (message === 'audit') actions.set(requestId, action)
  })

  for (const endpoint of PROTECTED) {
    const { access, id } = endpoint
    if (access === null || access === 'any') continue
    const right = access === 'catalog' || access === 'tools' ? 'read' : access
    const allowed = await ask(as(`only-${right}`), endpoint)
    const others = await Promise.all(
      POLICY_VERBS.filter((verb) => verb !== right).map(
        async (verb) => (await ask(as(`only-${verb}`), endpoint)).status === 403,
      ),
    )

    const opens = OPENING.get(access) ?? []
    const expected = POLICY_VERBS.filter((verb) => verb !== right).map((verb) => !opens.includes(verb))
    expect([id, ...others]).toEqual([id, ...expected])
    const also = ALSO.get(id)
    expect([id, rejectionOf(allowed)]).toEqual([
      id,
      also === undefined ? expect.not.arrayContaining([403]) : [403, 'ForbiddenError', also],
    ])
  }
})

test("an operator's request is audited as the right that its endpoint declares (threat 27)", async ({
  callers: { operator, service },
}) => {
  const lines: { requestId: string; action: string; message: string }[] = []
  service.onLine((line) => lines.push(JSON.parse(line)))

  for (const endpoint of PROTECTED) {
    const requestId = (await ask(operator, endpoint)).headers.get('X-Request-Id')
    const audit = lines.find((line) => line.message === 'audit' && line.requestId === requestId)
    const declared = endpoint.id === 'validateRequest' ? 'validate' : endpoint.access
    expect([nameOf(endpoint), audit?.action.split(':')[0]]).toEqual([nameOf(endpoint), declared])
  }
})

test('a credential that only reads changes nothing, by any endpoint (threat 15)', async ({
  callers: { as, operator },
  client,
}) => {
  const workflowId = `run:${crypto.randomUUID()}`
  const { runId } = (await operator.start('messages', null, { workflowId })).body
  const before = await historyLengthOf(client, workflowId)
  const isRead = ({ access }: Endpoint) => ['read', 'list', 'catalog', 'tools', 'any'].includes(access ?? '')

  // The streams of an open run do not end.
  const ending = PROTECTED.filter(({ path }) => !/\/(history|trace-log)\/stream$/.test(path))
  const answers = await Promise.all(
    ending.map(async (endpoint) => {
      const [method, path, body] = requestTo(endpoint, { workflowId, runId })
      return { endpoint, ...(await as('reader').call(method, path, body, { Accept: 'application/json' })) }
    }),
  )

  const wrong = answers.filter(({ endpoint, status }) => (status === 403) === isRead(endpoint))
  // Reads of another catalog than the default one.
  expect(wrong.map(({ endpoint }) => nameOf(endpoint))).toEqual([
    'GET /workflow/catalog/:catalog',
    'GET /task-queues/:taskQueue',
    'POST /mcp/:catalog',
  ])
  expect(await historyLengthOf(client, workflowId)).toBe(before)
})

test('a verb that is narrowed reaches these handlers alone, in any encoding and with a start too (threat 21)', async ({
  callers: { as, operator },
}) => {
  const workflowId = `own:${crypto.randomUUID()}`
  const { runId } = (await operator.start('messages', null, { workflowId })).body
  const { headers } = await operator.post(`${workflowId}/update/validated`, { payload: 1 }, { Prefer: 'respond-async' })
  const otherUpdate = headers.get('Location') ?? ''
  // One after the other: a run holds one waiting query.
  const sendEach = async (paths: string[]) => {
    const answers: unknown[][] = []
    for (const path of paths) answers.push(rejectionOf(await as('narrow').post(path, { payload: 1 })))
    return answers
  }
  const paths = (names: string[]) =>
    names.flatMap((name) => [`${workflowId}/${name}`, `${workflowId}/runs/${runId}/${name}`])
  const start = { workflowName: 'messages', input: null, workflowId, payload: 1 }
  const withStart = (path: string) => as('starts-narrow').post(path, start)

  const allowed = await sendEach(paths(['signal/add', 'signal/%61dd', 'query/state', 'update/set']))
  const denied = await sendEach(
    paths(['signal/finish', 'signal/Add', 'signal/x%2Fadd', 'query/echo', 'update/validated', 'update/set2']),
  )
  const reading = await as('narrow').call('GET', otherUpdate)
  // The name of another update in the path does not help.
  const readAs = (rule: string, id: string) => as(rule).get(`${workflowId}/update/set/${id}?wait=1s`)
  const [ofOther, unknown] = [otherUpdate.split('/').at(-1) ?? '', crypto.randomUUID()]
  const own = await as('narrow').post(`${workflowId}/update/set`, { payload: 1 }, { Prefer: 'respond-async' })
  const ownUpdate = (own.headers.get('Location') ?? '').split('/').at(-1) ?? ''
  const hidden = JSON.stringify(bytesOf(await readAs('narrow', ofOther))).replaceAll(ofOther, unknown)
  const started = await Promise.all(
    ['signal-with-start/add', 'update-with-start/set', 'signal-with-start/finish', 'update-with-start/echo'].map(
      withStart,
    ),
  )

  expect(allowed.map(([status]) => status)).toEqual(allowed.map(() => 200))
  expect(denied.map(([status]) => status)).toEqual(denied.map(() => 403))
  expect(rejectionOf(reading)).toEqual([403, 'ForbiddenError', 'update:validated'])
  expect(hidden).toBe(JSON.stringify(bytesOf(await readAs('narrow', unknown))))
  expect(JSON.parse(hidden)[0]).toBe(404)
  const readable = [
    await readAs('narrow', ownUpdate),
    await readAs('updates', ofOther),
    await readAs('updates', ownUpdate),
  ]
  expect(readable.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(started.map(({ status }) => status)).toEqual([200, 200, 403, 403])
})
