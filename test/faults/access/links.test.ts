/** One-use links: threat 32 of docs/access.md. */
import { randomBytes } from 'node:crypto'
import type { Client } from '@temporalio/client'
import { expect } from 'vitest'
import * as z from 'zod'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { defineCatalog } from '../../../src/worker/catalog/define-catalog.ts'
import { type Answer, type Api, makeApi } from '../../support/api.ts'
import { test as sharedTest } from '../../support/fixtures.ts'
import type * as workflows from '../../support/workflows.ts'
import { historyLengthOf, refusal, startCallers, tokenRule } from './callers.ts'

const BASE = 'https://portico.example/base'
const [OLD_KEY, NEW_KEY] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')]
const LINKS = { SERVICE_SIGNING_KEY: OLD_KEY, SERVICE_PUBLIC_URL: BASE }

const decision = z.strictObject({ ok: z.boolean(), comment: z.string().min(3).optional() })
const catalog = defineCatalog<Pick<typeof workflows, 'chainOnSignal' | 'messages'>>({
  messages: {
    signals: { add: { input: decision }, finish: {} },
    updates: { set: {}, fails: {}, validated: { input: z.number() } },
  },
  chainOnSignal: {},
})

const RULES = [
  tokenRule('mailer', { can: ['start', 'link', 'signal', 'update'], ids: ['mail:*'] }),
  tokenRule('narrow', { can: ['start', 'link', 'signal:finish'], ids: ['mail:*'], workflows: ['messages'] }),
  tokenRule('split', { can: ['link'], ids: ['mail:*'] }),
  tokenRule('sender', { can: ['signal'], ids: ['mail:*'] }),
]

const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => ({ catalog }))
  .extend('callers', { scope: 'file' }, ({ serve, cleanup, worker: _ }) =>
    startCallers({ serve, cleanup, rules: RULES, env: LINKS }),
  )
  /** Another replica, with a newer key. */
  .extend('other', { scope: 'file' }, ({ serve, callers }) => {
    const { service, policyOf } = callers
    const env = { ...LINKS, SERVICE_SIGNING_KEY: `${NEW_KEY},${OLD_KEY}`, SERVICE_CATALOG_ID: service.catalog }
    return serve({ ...env, SERVICE_POLICY: JSON.stringify(policyOf(...RULES)) })
  })

const JSON_ANSWER = { Accept: 'application/json' }
const HTML = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const FORM = { ...HTML, 'Content-Type': 'application/x-www-form-urlencoded' }

const APPROVE = { label: 'Approve', payload: { ok: true } }
const REJECT = { label: 'Reject', payload: { ok: false } }
const QUESTION = { title: 'Refund 120 EUR?', signal: 'add', choices: [APPROVE, REJECT] }

async function startRun(api: Api, client: Client, workflowName = 'messages') {
  const { body } = await api.start(workflowName, null, { workflowId: `mail:${crypto.randomUUID()}` })
  const length = await historyLengthOf(client, body.workflowId)
  return { workflowId: body.workflowId, runId: body.runId, length }
}

const pinned = ({ workflowId, runId }: { workflowId: string; runId: string }) => ({
  workflowId: `${workflowId}/runs/${runId}`,
})

/** Creates a link, and returns its path below the base of the service. */
async function linkTo(api: Api, run: { workflowId: string }, more: object = {}): Promise<string> {
  const { status, body } = await api.post(`${run.workflowId}/links`, { ...QUESTION, ...more })
  expect(status, JSON.stringify(body)).toBe(201)
  return body.url.slice(BASE.length)
}

const publicApi = ({ fetch }: { fetch(request: Request): Promise<Response> }) => makeApi({ fetch, token: '' })
/** What a browser gets, and sends with the form of the page. */
async function browse({ fetch }: { fetch(request: Request): Promise<Response> }, path: string, form?: string) {
  const sent = form === undefined ? { headers: HTML } : { method: 'POST', headers: FORM, body: form }
  const response = await fetch(new Request(`http://portico.test${path}`, sent))
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const errorOf = ({ status, body }: Answer) => [status, body.error]

async function eventsOf(client: Client, { workflowId, runId }: { workflowId: string; runId: string }) {
  return (await client.workflow.getHandle(workflowId, runId).fetchHistory()).events ?? []
}

async function signalsOf(client: Client, run: { workflowId: string; runId: string }) {
  return (await eventsOf(client, run)).flatMap((event) => event.workflowExecutionSignaledEventAttributes ?? [])
}

test('a link answers its run once, and the history names the link and its creator', async ({ callers, client }) => {
  const run = await startRun(callers.as('mailer'), client)
  const created = await callers.as('mailer').post(`${run.workflowId}/links`, { ...QUESTION, expiresIn: '3d' })
  const path = created.body.url.slice(BASE.length)
  const holder = publicApi(callers.service)

  const open = await holder.call('GET', path, undefined, JSON_ANSWER)
  const first = await holder.call('POST', path, { choice: 'Reject' })
  const again = await holder.call('POST', path, { choice: 'Reject' })
  const other = await holder.call('POST', path, { choice: 'Approve' })
  const answered = await holder.call('GET', path, undefined, JSON_ANSWER)

  expect(created.body).toMatchObject({ workflowId: run.workflowId, runId: run.runId })
  expect(Date.parse(created.body.expiresAt) - Date.now()).toBeGreaterThan(3 * 86_400_000 - 60_000)
  expect(open.body).toEqual({
    title: 'Refund 120 EUR?',
    workflowName: 'messages',
    choices: [
      { label: 'Approve', comment: 'none' },
      { label: 'Reject', comment: 'none' },
    ],
    state: 'open',
    answer: null,
    expiresAt: created.body.expiresAt,
  })
  expect([first.status, first.body]).toEqual([200, { recorded: 'Reject', at: expect.any(String) }])
  expect([again.status, again.body]).toEqual([200, first.body])
  expect(other.body).toMatchObject({ status: 409, error: 'LinkUsedError', ...first.body })
  expect(answered.body).toMatchObject({ state: 'answered', answer: { label: 'Reject', at: first.body.at } })
  const [signal, ...others] = await signalsOf(client, run)
  expect(others).toEqual([])
  expect(signal).toMatchObject({
    requestId: `link-${created.body.linkId}`,
    identity: `portico link:${created.body.linkId} by token:mailer`,
  })
  expect(open.text + other.text).not.toContain(run.workflowId)
})

test('scanners that fetch a link five times with GET and HEAD change nothing', async ({ callers, client }) => {
  const run = await startRun(callers.as('mailer'), client)
  const paths = [
    await linkTo(callers.as('mailer'), run),
    await linkTo(callers.as('mailer'), pinned(run), { signal: undefined, update: 'set' }),
  ]
  const holder = publicApi(callers.service)

  const statuses: number[] = []
  for (const path of paths)
    for (const method of ['GET', 'HEAD'])
      for (let count = 0; count < 5; count++) statuses.push((await holder.call(method, path, undefined, HTML)).status)

  expect(statuses).toEqual(Array(20).fill(200))
  expect(await eventsOf(client, run)).toHaveLength(run.length)
})

for (const [kind, handler] of [
  ['signal', 'add'],
  ['update', 'set'],
]) {
  test(`two answers at once to two replicas: one ${kind} is recorded, and the other person learns which`, async ({
    callers,
    other,
    client,
  }) => {
    const run = await startRun(callers.as('mailer'), client)
    const path = await linkTo(callers.as('mailer'), run, { signal: undefined, [`${kind}`]: handler })

    const answers = await Promise.all([
      publicApi(callers.service).call('POST', path, { choice: 'Approve' }),
      publicApi(other).call('POST', path, { choice: 'Reject' }),
    ])

    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
    const [winner, loser] = answers.toSorted((a, b) => a.status - b.status).map(({ body }) => body)
    expect(loser).toMatchObject({ error: 'LinkUsedError', recorded: winner.recorded, at: winner.at })
    const events = await eventsOf(client, run)
    const sent = events.filter(
      (event) => event.workflowExecutionSignaledEventAttributes ?? event.workflowExecutionUpdateAcceptedEventAttributes,
    )
    expect(sent).toHaveLength(1)
  })
}

test('a token with any bit changed gets the same 404, and changes nothing', async ({ callers, client }) => {
  const run = await startRun(callers.as('mailer'), client)
  const path = await linkTo(callers.as('mailer'), run)
  const holder = publicApi(callers.service)
  const token = path.slice('/links/'.length)
  const flipped = [0, 15, 16, 17, token.length >> 1, token.length - 24, token.length - 2].map((at) => {
    const bytes = Buffer.from(token, 'base64url')
    const index = Math.min(Math.floor((at * 3) / 4), bytes.length - 1)
    bytes[index] = (bytes[index] ?? 0) ^ 1
    return bytes.toString('base64url')
  })

  const answers: Answer[] = []
  for (const other of [...flipped, token.slice(1), `${token}A`, 'x'])
    for (const method of ['GET', 'POST'])
      answers.push(
        await holder.call(method, `/links/${other}`, method === 'GET' ? undefined : { choice: 'Approve' }, JSON_ANSWER),
      )

  const messages = new Set(answers.map(({ status, body }) => `${status} ${body.error} ${body.message}`))
  expect([...messages]).toEqual(['404 LinkNotFoundError This link is not valid; it may be incomplete, or was changed'])
  expect(await eventsOf(client, run)).toHaveLength(run.length)
})

test('an expired link is a 410, as JSON and as a page, and changes nothing', async ({ callers, client }) => {
  const run = await startRun(callers.as('mailer'), client)
  const path = await linkTo(callers.as('mailer'), run, { expiresIn: 1 })
  const holder = publicApi(callers.service)

  const get = await until('the link has expired', async () => {
    const answer = await holder.call('GET', path, undefined, JSON_ANSWER)
    return answer.status === 200 ? null : answer
  })
  const post = await holder.call('POST', path, { choice: 'Approve' })
  const page = await browse(callers.service, path, 'choice=Approve')

  expect([get, post].map(errorOf)).toEqual(Array(2).fill([410, 'LinkExpiredError']))
  expect([page.status, page.text]).toEqual([410, expect.stringContaining('This link expired at')])
  expect(await eventsOf(client, run)).toHaveLength(run.length)
})

test('a link does not reach the run that continues its run', async ({ callers, client }) => {
  const api = callers.as('mailer')
  const run = await startRun(api, client, 'chainOnSignal')
  const [unused, used] = [
    await linkTo(api, run, { signal: 'other' }),
    await linkTo(api, run, { signal: undefined, update: 'round' }),
  ]
  const holder = publicApi(callers.service)
  const first = await holder.call('POST', used, { choice: 'Approve' })
  await api.post(`${run.workflowId}/signal/next`)
  const successor = await until('the run has continued', async () => {
    const { runId } = await client.workflow.getHandle(run.workflowId).describe()
    return runId === run.runId ? null : runId
  })
  await historyLengthOf(client, run.workflowId)

  const answers = [
    await holder.call('GET', unused, undefined, JSON_ANSWER),
    await holder.call('POST', unused, { choice: 'Approve' }),
  ]
  const again = await holder.call('POST', used, { choice: 'Approve' })
  const other = await holder.call('POST', used, { choice: 'Reject' })

  expect(answers.map(errorOf)).toEqual(Array(2).fill([409, 'WorkflowNotRunningError']))
  expect([first.status, again.status, again.body]).toEqual([200, 200, first.body])
  expect(errorOf(other)).toEqual([409, 'LinkUsedError'])
  const ofSuccessor = await eventsOf(client, { workflowId: run.workflowId, runId: successor })
  expect(ofSuccessor.filter((event) => event.workflowExecutionSignaledEventAttributes)).toEqual([])
})

test('after the run has ended, the answer can still be read, and no other is taken', async ({ callers, client }) => {
  const api = callers.as('mailer')
  const run = await startRun(api, client)
  const [used, unused] = [await linkTo(api, run), await linkTo(api, run)]
  const holder = publicApi(callers.service)
  await holder.call('POST', used, { choice: 'Approve' })
  await client.workflow.getHandle(run.workflowId).terminate()

  const statuses = [
    await holder.call('GET', used, undefined, JSON_ANSWER),
    await holder.call('POST', used, { choice: 'Approve' }),
    await holder.call('POST', used, { choice: 'Reject' }),
    await holder.call('POST', unused, { choice: 'Approve' }),
    await api.post(`${run.workflowId}/links`, QUESTION),
  ].map(({ status, body }) => [status, body.error ?? body.state ?? body.recorded])

  expect(statuses).toEqual([
    [200, 'answered'],
    [200, 'Approve'],
    [409, 'LinkUsedError'],
    [409, 'WorkflowNotRunningError'],
    [409, 'WorkflowNotRunningError'],
  ])
})

test('pages of other sites cannot send an answer, and the form of the page can', async ({ callers, client }) => {
  const run = await startRun(callers.as('mailer'), client)
  const path = await linkTo(callers.as('mailer'), run)
  const holder = publicApi(callers.service)
  const send = (headers: Record<string, string>) => holder.call('POST', path, 'choice=Approve', { ...FORM, ...headers })

  const foreign = [
    await send({ 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' }),
    await send({ 'Sec-Fetch-Site': 'cross-site', Origin: 'null' }),
    await send({ Origin: 'https://evil.example' }),
  ]
  const length = (await eventsOf(client, run)).length
  // The page has the policy no-referrer, so that browsers send this origin.
  const own = await send({ 'Sec-Fetch-Site': 'same-origin', Origin: 'null' })
  const older = await send({ Origin: 'null' })

  expect(foreign.map(({ status }) => status)).toEqual([403, 403, 403])
  expect(length).toBe(run.length)
  expect([own.status, older.status]).toEqual([200, 200])
  expect(own.text).toContain('Recorded: <strong>Approve</strong>')
})

test('an update that its validator rejects does not use the link up', async ({ callers, client }) => {
  const run = await startRun(callers.as('mailer'), client)
  const choices = [
    { label: 'Minus one', payload: -1 },
    { label: 'Five', payload: 5 },
  ]
  const path = await linkTo(callers.as('mailer'), run, { signal: undefined, update: 'validated', choices })
  const holder = publicApi(callers.service)

  const rejected = await holder.call('POST', path, { choice: 'Minus one' })
  const page = await browse(callers.service, path, 'choice=Minus+one')
  const open = await holder.call('GET', path, undefined, JSON_ANSWER)
  const accepted = await holder.call('POST', path, { choice: 'Five' })
  const late = await holder.call('POST', path, { choice: 'Minus one' })

  expect(errorOf(rejected)).toEqual([422, 'UpdateFailedError'])
  expect(page.status).toBe(422)
  expect(page.text).toContain('Not accepted: -1 is not positive')
  expect(page.text).toContain('<button name="choice" value="Five">')
  expect(open.body.state).toBe('open')
  expect([accepted.status, accepted.body]).toEqual([200, { recorded: 'Five', at: expect.any(String), result: 5 }])
  expect(errorOf(late)).toEqual([409, 'LinkUsedError'])
})

test('an update whose handler fails is recorded, and the page says both', async ({ callers, client }) => {
  const run = await startRun(callers.as('mailer'), client)
  const path = await linkTo(callers.as('mailer'), run, { signal: undefined, update: 'fails' })
  const holder = publicApi(callers.service)

  const failed = await holder.call('POST', path, { choice: 'Approve' })
  const page = await browse(callers.service, path, 'choice=Approve')
  const other = await holder.call('POST', path, { choice: 'Reject' })

  expect([...errorOf(failed), failed.body.recorded]).toEqual([422, 'UpdateFailedError', 'Approve'])
  expect(page.text).toContain('Recorded: <strong>Approve</strong>')
  expect(page.text).toContain('The workflow reports an error: the update rejects')
  expect(page.text).not.toContain('<button')
  expect(errorOf(other)).toEqual([409, 'LinkUsedError'])
})

test('a comment becomes part of the payload, which passes the published schema again', async ({ callers, client }) => {
  const run = await startRun(callers.as('mailer'), client)
  const choices = [APPROVE, { ...REJECT, comment: 'required' }]
  const path = await linkTo(callers.as('mailer'), run, { choices })
  const holder = publicApi(callers.service)

  const refused = [
    await holder.call('POST', path, { choice: 'Reject' }),
    await holder.call('POST', path, { choice: 'Reject', comment: ' ' }),
    await holder.call('POST', path, { choice: 'Reject', comment: 'no' }),
    await holder.call('POST', path, { choice: 'Approve', comment: 'fine' }),
    await holder.call('POST', path, { choice: 'Perhaps' }),
  ]
  const length = (await eventsOf(client, run)).length
  const recorded = await holder.call('POST', path, 'choice=Reject&comment=Too+much%0D%0Amoney', FORM)
  const other = await holder.call('POST', path, { choice: 'Reject', comment: 'another' })

  expect(refused.map(({ status, body }) => [status, body.issues[0].path])).toEqual([
    [400, '/comment'],
    [400, '/comment'],
    [400, '/comment'],
    [400, '/comment'],
    [400, '/choice'],
  ])
  expect(length).toBe(run.length)
  expect([recorded.status, other.status]).toEqual([200, 200])
  const state = await client.workflow.getHandle(run.workflowId).query('state')
  expect(state).toMatchObject({ gathered: [{ ok: false, comment: 'Too much\nmoney' }] })
})

test('payloads that do not match the published schema are rejected when the link is created', async ({
  callers,
  client,
}) => {
  const run = await startRun(callers.as('mailer'), client)
  const create = (choices: object[]) => callers.as('mailer').post(`${run.workflowId}/links`, { ...QUESTION, choices })

  const answers = [
    await create([APPROVE, { label: 'Reject', payload: { ok: 'no' } }]),
    await create([{ label: 'Approve' }]),
  ]

  expect(answers.map(({ status, body }) => [status, body.issues[0].path])).toEqual([
    [400, '/choices/1/payload/ok'],
    [400, '/choices/0/payload'],
  ])
})

test('one rule must allow both links and what they send', async ({ callers, client }) => {
  const run = await startRun(callers.as('mailer'), client)
  const create = (rule: string, more: object = {}) =>
    callers.as(rule).post(`${run.workflowId}/links`, { ...QUESTION, ...more })

  expect(refusal(await create('split'))).toEqual([403, 'ForbiddenError', 'signal:add'])
  expect(refusal(await create('sender'))).toEqual([403, 'ForbiddenError', 'link'])
  expect(refusal(await create('narrow'))).toEqual([403, 'ForbiddenError', 'signal:add'])
  expect((await create('narrow', { signal: 'finish', choices: [{ label: 'End' }] })).status).toBe(201)
})

test('a link dies with the rule of its creator, and when the rule no longer allows it', async ({
  callers,
  other,
  client,
}) => {
  const run = await startRun(callers.as('mailer'), client)
  const [path, ofOperator] = [await linkTo(callers.as('mailer'), run), await linkTo(callers.operator, run)]
  const holder = publicApi(other)
  const get = (of: string) => holder.call('GET', of, undefined, JSON_ANSWER)
  const [mailer, ...rest] = RULES
  const statuses: unknown[] = [(await get(path)).status]
  for (const rules of [rest, [{ ...mailer, can: ['link', 'signal:finish'] }], [{ ...mailer, ids: ['x:*'] }], RULES]) {
    other.setPolicy(callers.policyOf(...(rules as typeof RULES)))
    statuses.push(errorOf(await get(path))[1] ?? 200)
  }
  other.setPolicy(callers.policyOf())
  const operator = await get(ofOperator)
  other.setPolicy(callers.policyOf(...RULES))

  expect(statuses).toEqual([200, 'LinkNotFoundError', 'LinkNotFoundError', 'LinkNotFoundError', 200])
  expect(operator.status).toBe(200)
})

test('a new signing key kills no link, and the removal of the old one does', async ({
  callers,
  other,
  serve,
  client,
}) => {
  const run = await startRun(callers.as('mailer'), client)
  const path = await linkTo(callers.as('mailer'), run)
  const removed = serve({
    ...LINKS,
    SERVICE_SIGNING_KEY: NEW_KEY,
    SERVICE_POLICY: JSON.stringify(callers.policyOf(...RULES)),
  })

  const rotated = await publicApi(other).call('GET', path, undefined, JSON_ANSWER)
  const gone = await publicApi(removed).call('GET', path, undefined, JSON_ANSWER)

  expect([rotated.status, ...errorOf(gone)]).toEqual([200, 404, 'LinkNotFoundError'])
})

test('the eleventh answer within a minute is a 429, of each link', async ({ callers, client }) => {
  const run = await startRun(callers.as('mailer'), client)
  const [path, another] = [await linkTo(callers.as('mailer'), run), await linkTo(callers.as('mailer'), run)]
  const holder = publicApi(callers.service)

  const answers: Answer[] = []
  for (let count = 0; count < 11; count++) answers.push(await holder.call('POST', path, { choice: 'Perhaps' }))
  const last = answers.at(-1)

  expect(answers.slice(0, 10).map(({ status }) => status)).toEqual(Array(10).fill(400))
  expect([last?.body.error, last?.headers.get('Retry-After')]).toEqual(['TooManyRequestsError', '6'])
  expect((await holder.call('POST', another, { choice: 'Approve' })).status).toBe(200)
})

test('a link whose URL is too long is a 413, and without its variables a 501 names the missing one', async ({
  callers,
  serve,
  client,
}) => {
  const api = callers.as('mailer')
  const run = await startRun(api, client)
  const choices = [{ label: 'Approve', payload: { ok: true, comment: 'x'.repeat(3000) } }]
  const missing = await Promise.all(
    [{}, { SERVICE_SIGNING_KEY: OLD_KEY }, LINKS].map(async (env) => {
      const service = serve({ ...env, SERVICE_CATALOG_ID: callers.service.catalog })
      const { body } = await service.post(`${run.workflowId}/links`, QUESTION)
      const { features } = (await service.call('GET', '/capabilities')).body
      return [body.message ?? body.error ?? null, features.links]
    }),
  )

  expect(errorOf(await api.post(`${run.workflowId}/links`, { ...QUESTION, choices }))).toEqual([
    413,
    'PayloadTooLargeError',
  ])
  expect(missing).toEqual([
    ['Links are not enabled: set SERVICE_SIGNING_KEY (GET /capabilities: links)', false],
    ['Links are not enabled: set SERVICE_PUBLIC_URL (GET /capabilities: links)', false],
    [null, true],
  ])
})

test('the log has the route and the link id, but never the token', async ({ callers, client }) => {
  const lines: string[] = []
  callers.service.onLine((line) => lines.push(line))
  const run = await startRun(callers.as('mailer'), client)
  const path = await linkTo(callers.as('mailer'), run)
  const holder = publicApi(callers.service)

  await holder.call('GET', path, undefined, HTML)
  await holder.call('POST', path, { choice: 'Approve' })
  await holder.call('POST', `${path}/more`, { choice: 'Approve' })

  const text = lines.join('\n')
  expect(text).not.toContain(path.slice('/links/'.length, 60))
  expect(text).toContain('"route":"/links/:token"')
  expect(lines.find((line) => line.includes('"audit"') && line.includes('"link:'))).toMatch(
    /"caller":"link:[\w-]+ by token:mailer","rule":"mailer","action":"signal:add"/,
  )
})

test('the page and its errors are HTML with the headers that keep the token private', async ({ callers, client }) => {
  const run = await startRun(callers.as('mailer'), client)
  const path = await linkTo(callers.as('mailer'), run, { title: '<b>"Refund" & more</b>' })

  const answers = [
    await browse(callers.service, path),
    await browse(callers.service, '/links/none'),
    await browse(callers.service, path, 'choice=Approve'),
    await browse(callers.service, path, 'choice=Reject'),
  ]

  expect(answers.map(({ status }) => status)).toEqual([200, 404, 200, 409])
  for (const { headers, text } of answers) {
    expect(headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(headers.get('Content-Security-Policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; form-action 'self'; frame-ancestors 'none'$/,
    )
    expect(headers.get('Referrer-Policy')).toBe('no-referrer')
    expect(headers.get('Cache-Control')).toBe('no-store')
    expect(headers.get('X-Robots-Tag')).toBe('noindex')
    expect(text).not.toMatch(/<script|https?:|<b>/)
  }
  expect(answers[3]?.text).toContain('Not recorded, because this link was used before.')
  expect(answers[3]?.text).toContain('Recorded: <strong>Approve</strong>')
})
