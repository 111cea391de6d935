/** What callers can start, and with what: threats 12, 13, 14, 20 and 26 of docs/access.md. */
import { expect } from 'vitest'
import { ENDPOINTS } from '../../../src/service/endpoints.ts'
import { POLICY_START_OPTIONS } from '../../../src/shared/access/policy-verbs.ts'
import type { Api } from '../../support/api.ts'
import { callEach, requestTo } from '../endpoints.ts'
import { historyLengthOf, rejectionOf, testWithCallers, tokenRule } from './callers.ts'

const RULES = [
  tokenRule('ci', { can: ['start', 'read', 'signal', 'update', 'query'], ids: ['ci:*'] }),
  tokenRule('other', { can: ['start', 'read', 'signal'], ids: ['ci:*', 'other:*'] }),
  tokenRule('starter', { can: ['start'], ids: ['st:*'], options: ['workflowIdConflictPolicy'] }),
  tokenRule('exact', { can: ['start'], ids: ['only-this'] }),
  tokenRule('echoes', { can: ['start', 'list'], workflows: ['echo'], ids: ['e:*'] }),
  tokenRule('parrots', { can: ['start'], workflows: ['parrot'] }),
  tokenRule('everywhere', { can: ['start'], catalogs: ['*'] }),
  tokenRule('memos', { can: ['start'], options: ['memo'] }),
  tokenRule('headers', { can: ['start', 'signal'], options: ['headers'] }),
  tokenRule('attacher', { can: ['start', 'signal', 'update'], workflows: ['messages'], options: ['*'] }),
  tokenRule('owner', { can: ['start', 'signal', 'update'], workflows: ['messages'], ids: ['own:*'], options: ['*'] }),
  { name: 'users', who: { jwt: 'main' }, can: ['start', 'read'], ids: ['u:{sub}:*'] },
]

const test = testWithCallers(RULES, { SERVICE_FORWARD_HEADERS: 'x-user' })

const uuid = () => crypto.randomUUID()
const keyed = (key: string) => ({ 'Idempotency-Key': key })
const FORBIDDEN = [403, 'ForbiddenError', 'start']

test('a start gets the id that it names if it is its own, and the same 403 for any other, used or not (threat 12)', async ({
  callers: { as, operator },
}) => {
  const used = `other:${uuid()}`
  await operator.start('neverEnds', null, { workflowId: used })
  const start = (workflowId: string) => as('ci').start('nothing', null, { workflowId })
  const own = await start(`ci:${uuid()}`)

  const foreign = await Promise.all([used, `other:${uuid()}`, 'ci', `CI:${uuid()}`, `xci:${uuid()}`].map(start))

  expect(own.status).toBe(200)
  expect(foreign.map(rejectionOf)).toEqual(foreign.map(() => FORBIDDEN))
})

test('a generated id begins with the first own pattern, with a key and for a claim too (threat 12)', async ({
  callers: { as, withClaims },
}) => {
  const ada = await withClaims({ sub: 'Ada' })
  const start = async (api: Api, headers = {}) =>
    (await api.post('start', { workflowName: 'nothing', input: null }, headers)).body.workflowId

  expect(await start(as('ci'))).toMatch(/^ci:[\da-f-]{36}$/)
  expect(await start(as('other'), keyed(uuid()))).toMatch(/^ci:key-[\da-f]{32}$/)
  expect(await start(ada)).toMatch(/^u:~41da:[\da-f-]{36}$/)
  const withStart = await as('ci').post('signal-with-start/add', { workflowName: 'messages', args: [], startArgs: [] })
  expect(withStart.body.workflowId).toMatch(/^ci:/)
})

test('a rule with exact ids alone generates none (threat 12)', async ({ callers: { as } }) => {
  expect(rejectionOf(await as('exact').start('nothing'))).toEqual(FORBIDDEN)
  expect((await as('exact').start('nothing', null, { workflowId: 'only-this' })).status).toBe(200)
})

test('a rule names canonical workflows: an alias is neither a way in nor a way around (threat 12)', async ({
  callers: { as },
}) => {
  const start = async (rule: string, name: string, verb = 'start') =>
    (await as(rule).post(verb, { workflowName: name, input: { ms: 1 } })).status

  expect(await Promise.all(['echo', 'parrot'].map((name) => start('echoes', name)))).toEqual([200, 200])
  expect(await Promise.all(['sleepFor', 'nap', 'none'].map((name) => start('echoes', name)))).toEqual([403, 403, 403])
  expect(await Promise.all(['nap', 'none'].map((name) => start('echoes', name, 'validate')))).toEqual([403, 403])
  expect(await Promise.all(['echo', 'parrot'].map((name) => start('parrots', name)))).toEqual([403, 403])
})

test('only a rule that names another catalog opens it, under each of its names in requests (threat 12)', async ({
  callers: { as, service },
}) => {
  const requests: [string, string, unknown?][] = [
    ['POST', '/workflow/start', { workflowName: 'echo', input: 1, catalog: 'other' }],
    ['POST', '/workflow/start', { workflowName: 'echo', input: 1, taskQueue: 'other' }],
    ['POST', '/workflow/start', { workflowName: 'echo', input: 1, taskQueue: service.catalog, catalog: 'other' }],
    ['POST', '/workflow/validate', { workflowName: 'echo', input: 1, catalog: 'other' }],
    ['POST', '/workflow/signal-with-start/add', { workflowName: 'messages', input: 1, catalog: 'other' }],
    ['GET', '/workflow/catalog/other'],
    ['GET', '/task-queues/other'],
    ['GET', '/openapi.json?catalog=other'],
  ]

  const denied = await Promise.all(requests.map((request) => as('ci').call(...request)))
  const own = await as('ci').start('echo', 1, { taskQueue: 'other', catalog: service.catalog })
  const elsewhere = await as('everywhere').start('echo', 1, { catalog: `none-${uuid()}` })

  expect(denied.map(({ status }) => status)).toEqual(denied.map(() => 403))
  expect([own.status, elsewhere.body.error]).toEqual([200, 'CatalogNotAvailableError'])
})

const OPTIONS: Readonly<Record<(typeof POLICY_START_OPTIONS)[number], unknown>> = {
  memo: { user: 'root' },
  // It hides a run from every list.
  searchAttributes: { TemporalNamespaceDivision: { type: 'keyword', value: 'hidden' } },
  headers: { user: 'root' },
  startDelay: '1s',
  executionTimeout: '1h',
  runTimeout: '1h',
  taskTimeout: '10s',
  retry: { maximumAttempts: 2 },
  cronSchedule: '@every 1h',
  workflowIdConflictPolicy: 'use-existing',
  workflowIdReusePolicy: 'allow-duplicate',
  priority: { priorityKey: 1 },
  versioningOverride: 'auto-upgrade',
  summary: 'text',
  details: 'text',
}

test('each option of a start is a 403 unless the rule names it, on every endpoint that starts (threat 13)', async ({
  callers: { as, operator },
}) => {
  const paths = ['start', 'run', 'validate', 'signal-with-start/add', 'update-with-start/set']
  // Combinations that the endpoint rejects for everyone.
  const conflicts = ['startDelay update-with-start/set', 'cronSchedule update-with-start/set']
  const start = (rule: string, path: string, options: object) =>
    as(rule).post(path, { workflowName: 'messages', input: null, workflowId: `ci:${uuid()}`, ...options })

  const denied = await Promise.all(
    POLICY_START_OPTIONS.flatMap((option) =>
      paths.map(async (path) => {
        const { status } = await start('ci', path, { [option]: OPTIONS[option] })
        return `${option} ${path} ${status}`
      }),
    ),
  )
  const { memo, summary } = OPTIONS
  const answers = [await start('memos', 'start', { memo }), await start('memos', 'start', { memo, summary })]

  expect(denied.filter((line) => !line.endsWith(' 403'))).toEqual(conflicts.map((line) => `${line} 400`))
  expect(answers.map(({ status }) => status)).toEqual([200, 403])
  const valid = await operator.post('validate', { workflowName: 'messages', input: null, memo, summary })
  expect(valid.status).toBe(200)
})

test('headers of messages, and headers of requests that are forwarded, need the option headers (threat 13)', async ({
  callers: { as, operator },
  client,
}) => {
  const { workflowId } = (await as('ci').start('messages', null, { workflowId: `ci:${uuid()}` })).body
  const denied = await Promise.all(
    ['signal/add', 'update/set', 'query/state'].map((path) =>
      as('ci').post(`${workflowId}/${path}`, { payload: 1, headers: { user: 'root' } }),
    ),
  )
  const forwarded = async (api: Api) => {
    const answer = await api.post('start', { workflowName: 'nothing', input: null }, { 'x-user': 'root' })
    const { events } = await client.workflow.getHandle(answer.body.workflowId).fetchHistory()
    const [started] = events ?? []
    return Object.keys(started?.workflowExecutionStartedEventAttributes?.header?.fields ?? {})
  }

  expect(denied.map(rejectionOf)).toEqual(
    ['signal:add', 'update:set', 'query:state'].map((action) => [403, 'ForbiddenError', action]),
  )
  expect(await forwarded(as('ci'))).not.toContain('x-user')
  expect(await forwarded(as('headers'))).toContain('x-user')
  expect(await forwarded(operator)).toContain('x-user')
})

test('a credential that only starts reads nothing of its own run, and cannot wait for it in any way (threat 14)', async ({
  callers: { as },
}) => {
  const starter = as('starter')
  const workflowId = `st:${uuid()}`
  const { status, body } = await starter.start('messages', 'secret', { workflowId })
  const reading = ENDPOINTS.filter(({ path, access }) => path.startsWith('/workflow/:id/') && access !== 'start')
  const denied = await callEach(
    starter,
    reading.map((endpoint) => requestTo(endpoint, { workflowId, runId: body.runId })),
  )
  const request = { workflowName: 'echo', input: 'secret', workflowId: `st:${uuid()}` }
  const waits = [
    await starter.post('run', request),
    await starter.post('run', request, { Prefer: 'respond-async' }),
    await starter.post('run', request, { Prefer: 'respond-async, wait=1' }),
    await starter.post('run', request, { Accept: 'text/event-stream' }),
    await starter.post('run', { ...request, workflowIdConflictPolicy: 'use-existing' }),
    await starter.post(
      'run',
      { ...request, workflowId },
      { 'Last-Event-ID': `${encodeURIComponent(workflowId)}/${body.runId}` },
    ),
    await starter.get('runs'),
  ]

  expect(status).toBe(200)
  expect(denied.filter((answer) => answer.status !== 403)).toEqual([])
  expect(waits.map(rejectionOf)).toEqual([
    ...Array(6).fill([403, 'ForbiddenError', 'read']),
    [403, 'ForbiddenError', 'list'],
  ])
})

test('no start attaches to the open run of another, or of another workflow (threat 20)', async ({
  callers: { as, operator },
  client,
}) => {
  const workflowId = `foreign:${uuid()}`
  await operator.start('waitForSignal', null, { workflowId })
  const request = { workflowName: 'messages', input: null, workflowId, args: undefined }
  const attaching: [string, object][] = [
    ['start', { ...request, workflowIdConflictPolicy: 'use-existing' }],
    ['run', { ...request, workflowIdConflictPolicy: 'use-existing' }],
    ['start', { ...request, workflowIdConflictPolicy: 'terminate-existing' }],
    ['signal-with-start/add', { ...request, payload: 'intruder' }],
    ['update-with-start/set', { ...request, payload: 'intruder' }],
  ]
  const before = await historyLengthOf(client, workflowId)

  const denied = await Promise.all(
    ['attacher', 'owner'].flatMap((rule) => attaching.map(([path, body]) => as(rule).post(path, body))),
  )

  expect(denied.map(({ status }) => status)).toEqual(denied.map(() => 403))
  expect(await historyLengthOf(client, workflowId)).toBe(before)
  const own = `own:${uuid()}`
  const { runId } = (await operator.start('messages', null, { workflowId: own })).body
  const attached = await as('owner').post('signal-with-start/add', { ...request, workflowId: own, payload: 'owner' })
  expect(attached.body).toMatchObject({ runId, started: false })
  const terminating = { ...request, workflowId: own, workflowIdConflictPolicy: 'terminate-existing' }
  expect(rejectionOf(await as('owner').post('start', terminating))).toEqual([403, 'ForbiddenError', 'terminate'])
})

test('Last-Event-ID needs the right to read the run that it names (threat 20)', async ({ callers: { as } }) => {
  const foreign = (await as('other').run('echo', 'secret', { workflowId: `other:${uuid()}` })).body
  const own = (await as('ci').run('echo', 'own', { workflowId: `ci:${uuid()}` })).body
  const idOf = ({ workflowId, runId }: typeof own) => ({
    Accept: 'text/event-stream',
    'Last-Event-ID': `${encodeURIComponent(workflowId)}/${runId}`,
  })
  // The second one says that the client has read all events.
  const withEnd = (id: ReturnType<typeof idOf>) => ({ ...id, 'Last-Event-ID': `${id['Last-Event-ID']}@end` })
  const run = (id: typeof own) => as('ci').post('run', { workflowName: 'echo', input: 1 }, idOf(id))
  const runToEnd = (id: typeof own) => as('ci').post('run', { workflowName: 'echo', input: 1 }, withEnd(idOf(id)))
  const missing = { workflowId: foreign.workflowId, runId: uuid() }
  const result = (id: typeof own) => as('ci').get(`${own.workflowId}/result?wait=1s`, idOf(id))

  expect((await run(own)).text).toContain('"output":"own"')
  expect((await result(own)).text).toContain('"output":"own"')
  expect((await runToEnd(own)).status).toBe(204)
  const denied = await Promise.all([foreign, missing].flatMap((id) => [run(id), runToEnd(id)]))
  expect(denied.map(rejectionOf)).toEqual(denied.map(() => [403, 'ForbiddenError', 'read']))
  const unmatched = await Promise.all([foreign, missing].map(result))
  expect(unmatched.map(rejectionOf)).toEqual(unmatched.map(() => [404, 'WorkflowNotFoundError', undefined]))
})

test('errors of a start list granted workflows alone, and the run that uses the id only to its readers (threat 26)', async ({
  callers: { as, operator },
}) => {
  const unknown = { workflowName: 'messages', input: null, workflowId: `st:${uuid()}` }
  const { runId } = (await operator.post('start', unknown)).body
  const ci = `ci:${uuid()}`
  const ofCi = (await as('ci').start('messages', null, { workflowId: ci })).body

  const hidden = await as('starter').post('start', unknown)
  const shown = await as('ci').start('messages', null, { workflowId: ci })
  const named = await as('echoes').post('start', { workflowName: 'admin', input: null })
  const available = (await as('ci').start('admin')).body

  expect([hidden.status, hidden.body.error]).toEqual([409, 'WorkflowAlreadyStartedError'])
  expect(hidden.text).not.toContain(runId)
  expect(shown.body).toMatchObject({ error: 'WorkflowAlreadyStartedError', runId: ofCi.runId })
  expect(rejectionOf(named)).toEqual(FORBIDDEN)
  expect(named.text).not.toMatch(/available|echo|parrot|ids|e:/)
  expect([available.error, available.available]).toEqual(['UnsupportedWorkflowError', expect.arrayContaining(['echo'])])
})
