/** Hooks and links that complete an activity, on a real engine: docs/hooks.md and docs/links.md. */
import { expect } from 'vitest'
import { type Answer, type Api, makeApi } from '../../support/api.ts'
import { test as sharedTest } from '../../support/fixtures.ts'
import { signWebhook } from '../../support/sign-webhook.ts'
import { testCatalog } from '../../support/test-catalog.ts'
import { bytesOf, OPERATOR, tokenOf, tokenRule, untilOpen } from './callers.ts'
import { browse, HTML, JSON_ANSWER } from './link-fixture.ts'

const SECRET = 'github-s3cret'

const HOOKS = {
  charged: {
    scheme: 'github',
    secretEnv: 'SERVICE_HOOK_GITHUB',
    argument: 'body',
    complete: { workflowId: 'own:{/order}', activityId: '{/activity}' },
  },
}

const RULES = [
  tokenRule('mailer', { can: ['link', 'complete:outside'], ids: ['own:*'] }),
  tokenRule('sender', { can: ['link', 'signal'], ids: ['own:*'] }),
  // Neither rule has both.
  tokenRule('split', { can: ['link'], ids: ['own:*'] }),
  tokenRule('split-type', { can: ['complete:outside'], ids: ['own:*'] }, tokenOf('split')),
]

const POLICY = JSON.stringify({ version: 1, rules: RULES, hooks: HOOKS })
const BASE = 'https://portico.example'

const ENV = {
  SERVICE_API_AUTH_TOKEN: OPERATOR,
  SERVICE_POLICY: POLICY,
  SERVICE_HOOK_GITHUB: SECRET,
  SERVICE_SIGNING_KEY: Buffer.alloc(32, 'signing-key').toString('base64url'),
  SERVICE_PUBLIC_URL: BASE,
}

const test = sharedTest
  .extend('workerOptions', { scope: 'file' }, () => ({ catalog: testCatalog }))
  .extend('callers', { scope: 'file' }, ({ serve, worker: _ }) => {
    const service = serve(ENV)
    const withToken = (token: string) => makeApi({ fetch: service.fetch, token })
    return {
      service,
      operator: withToken(OPERATOR),
      as: (rule: string) => withToken(tokenOf(rule)),
      holder: withToken(''),
      /** Of another replica. */
      otherHolder: makeApi({ fetch: serve({ ...ENV, SERVICE_CATALOG_ID: service.catalog }).fetch, token: '' }),
      /** Sends an event that its sender has signed. */
      send: (event: object, id: string) => {
        const body = JSON.stringify(event)
        const headers = { 'Content-Type': 'application/json', ...signWebhook.github({ secret: SECRET, body, id }) }
        return service.call('POST', '/hooks/charged', body, headers)
      },
    }
  })

/** The workflow id, and the id after its prefix, of a run whose activity `approval` waits. */
async function waiting(operator: Api, input: object = {}): Promise<{ workflowId: string; order: string }> {
  const order = crypto.randomUUID()
  const workflowId = `own:${order}`
  await operator.start('completesOutside', input, { workflowId })
  await untilOpen(operator, `${workflowId}/activities/approval`)
  return { workflowId, order }
}

const outputOf = async (operator: Api, workflowId: string) =>
  (await operator.get(`${workflowId}/result?wait=60s`)).body.output

test('an event completes the activity that waits for it, once, also when it comes again at the same instant (threat 33)', async ({
  callers: { operator, send },
}) => {
  const { workflowId, order } = await waiting(operator)
  const event = { order, activity: 'approval', paid: true }
  const delivery = crypto.randomUUID()

  const answers = await Promise.all([1, 2, 3].map(() => send(event, delivery)))
  const output = await outputOf(operator, workflowId)
  const afterEnd = await send(event, delivery)

  expect(output).toEqual([event])
  expect(
    [...answers.filter(({ status }) => status !== 202), afterEnd].map(({ status, body }) => [status, body]),
  ).toEqual(Array(3).fill([200, { duplicate: true }]))
})

test('another event for an activity that is over is a 404, and a 409 when the run has ended', async ({
  callers: { operator, send },
}) => {
  const { workflowId, order } = await waiting(operator, { staysOpen: true })
  const event = { order, activity: 'approval' }

  const first = await send(event, crypto.randomUUID())
  const second = await send(event, crypto.randomUUID())
  const never = await send({ order, activity: 'other' }, crypto.randomUUID())
  await operator.post(`${workflowId}/terminate`)
  const ended = await send(event, crypto.randomUUID())
  const missing = await send({ order: crypto.randomUUID(), activity: 'approval' }, crypto.randomUUID())

  expect(first.status).toBe(202)
  expect([second, never, ended, missing].map(({ status, body }) => [status, body.error, body.completed])).toEqual([
    [404, 'ActivityNotFoundError', true],
    [404, 'ActivityNotFoundError', undefined],
    [409, 'WorkflowNotRunningError', true],
    [404, 'WorkflowNotFoundError', undefined],
  ])
})

const QUESTION = {
  title: 'Charge 120 EUR?',
  complete: { activityId: 'approval' },
  choices: [
    { label: 'Yes', payload: { ok: true }, comment: 'optional' },
    { label: 'No', payload: { ok: false } },
    { label: 'Nothing' },
  ],
}

/** Creates a link, and returns its path. */
async function linkTo(api: Api, workflowId: string): Promise<string> {
  const { status, body } = await api.post(`${workflowId}/links`, QUESTION)
  expect(status, JSON.stringify(body)).toBe(201)
  return body.url.slice(BASE.length)
}

const outcomeOf = ({ status, body }: Answer) => [status, body.error ?? body.recorded]

test('a link completes its activity once with the payload and the comment, and says what was recorded (threat 63)', async ({
  callers: { as, holder, operator },
  client,
}) => {
  const { workflowId } = await waiting(operator)
  const path = await linkTo(as('mailer'), workflowId)

  const open = await holder.call('GET', path, undefined, JSON_ANSWER)
  const first = await holder.call('POST', path, { choice: 'Yes', comment: 'Fine' })
  const output = await outputOf(operator, workflowId)
  const again = await holder.call('POST', path, { choice: 'Yes' })
  const other = await holder.call('POST', path, { choice: 'No' })
  const answered = await holder.call('GET', path, undefined, JSON_ANSWER)

  expect([open.body.state, output]).toEqual(['open', [{ ok: true, comment: 'Fine' }]])
  expect([first.status, first.body]).toEqual([200, { recorded: 'Yes', at: expect.any(String) }])
  expect([again.status, again.body]).toEqual([200, first.body])
  expect(other.body).toMatchObject({ status: 409, error: 'LinkUsedError', ...first.body })
  expect(answered.body).toMatchObject({ state: 'answered', answer: { label: 'Yes', at: first.body.at } })
  expect(open.text + other.text).not.toContain(workflowId)
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory()
  const identities = (events ?? []).flatMap((event) => event.activityTaskCompletedEventAttributes?.identity ?? [])
  expect(identities).toEqual([expect.stringMatching(/^portico link:(\S+) by token:mailer link-\1\.0$/)])
})

test('of two answers at once to two replicas one is recorded, and a choice without a payload returns nothing (threat 63)', async ({
  callers: { as, holder, otherHolder, operator },
  client,
}) => {
  const { workflowId } = await waiting(operator)
  const path = await linkTo(as('mailer'), workflowId)
  // Both are connected to the engine, so that no answer is late.
  for (const one of [holder, otherHolder]) await one.call('GET', path, undefined, JSON_ANSWER)

  const answers = await Promise.all([
    holder.call('POST', path, { choice: 'No' }),
    otherHolder.call('POST', path, { choice: 'Nothing' }),
    otherHolder.call('POST', path, { choice: 'No' }),
  ])
  const output = await outputOf(operator, workflowId)
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory()

  const [recorded] = answers.filter(({ status }) => status === 200)
  const label = recorded?.body.recorded
  expect(output).toEqual([label === 'No' ? { ok: false } : null])
  expect(answers.map(({ status }) => status).toSorted()).toEqual(label === 'No' ? [200, 200, 409] : [200, 409, 409])
  expect(answers.filter(({ status }) => status === 409).map(({ body }) => body.recorded)).not.toContainEqual(
    expect.not.stringMatching(label),
  )
  expect(events?.filter((event) => event.activityTaskCompletedEventAttributes)).toHaveLength(1)
})

test('scanners that fetch the link of an activity five times with GET and HEAD complete nothing (threat 32)', async ({
  callers: { as, holder, operator },
  client,
}) => {
  const { workflowId } = await waiting(operator)
  const path = await linkTo(as('mailer'), workflowId)
  const run = client.workflow.getHandle(workflowId)
  const { historyLength } = await run.describe()

  const statuses: number[] = []
  for (const method of ['GET', 'HEAD'])
    for (const headers of [HTML, JSON_ANSWER])
      for (let count = 0; count < 5; count++)
        statuses.push((await holder.call(method, path, undefined, headers)).status)
  const scanned = await run.describe()
  const answered = await holder.call('POST', path, { choice: 'No' })

  expect(statuses).toEqual(Array(20).fill(200))
  expect([scanned.historyLength, scanned.raw.pendingActivities?.length]).toEqual([historyLength, 1])
  expect(outcomeOf(answered)).toEqual([200, 'No'])
  expect(await outputOf(operator, workflowId)).toEqual([{ ok: false }])
})

test('a link whose activity was completed elsewhere, or whose run has ended, expects no answer and offers none', async ({
  callers: { as, holder, operator, service },
}) => {
  const { workflowId } = await waiting(operator, { staysOpen: true })
  const path = await linkTo(as('mailer'), workflowId)
  await operator.post(`${workflowId}/activities/approval/complete`, { output: 1 })
  const both = async () => [
    await holder.call('GET', path, undefined, JSON_ANSWER),
    await holder.call('POST', path, { choice: 'No' }),
  ]
  const bothPages = async () => [await browse(service, path), await browse(service, path, 'choice=No')]

  const elsewhere = await both()
  const pages = await bothPages()
  await operator.post(`${workflowId}/terminate`)
  const ended = await both()
  pages.push(...(await bothPages()))

  expect(elsewhere.map(outcomeOf)).toEqual(Array(2).fill([404, 'ActivityNotFoundError']))
  expect(ended.map(outcomeOf)).toEqual(Array(2).fill([409, 'WorkflowNotRunningError']))
  const texts = [...elsewhere, ...ended].map(({ body }) => JSON.stringify(body))
  expect(texts.map((text) => /No answer is expected/.test(text) && !text.includes(workflowId))).toEqual(
    Array(4).fill(true),
  )
  expect(pages.map(({ status, text }) => [status, /No answer is expected/.test(text), text.includes('<form')])).toEqual(
    [404, 404, 409, 409].map((status) => [status, true, false]),
  )
})

test('one rule must allow the link and the type of the activity, and other types are like a missing activity (threat 66)', async ({
  callers: { as, operator },
}) => {
  const own = await waiting(operator)
  const other = await waiting(operator, { type: 'outsideToo' })
  const ask = (rule: string, { workflowId }: { workflowId: string }, activityId = 'approval') =>
    as(rule).post(`${workflowId}/links`, { ...QUESTION, complete: { activityId } })

  const denied = await Promise.all([
    ask('sender', own),
    ask('split', own),
    ask('mailer', { workflowId: 'other:1' }),
    ask('mailer', own, 'never'),
    ask('mailer', other),
  ])
  const never = await ask('mailer', other, 'no-other')
  const byOperator = await operator.post(`${other.workflowId}/links`, QUESTION)

  expect(denied.map(({ status, body }) => [status, body.error])).toEqual([
    [403, 'ForbiddenError'],
    [403, 'ForbiddenError'],
    [403, 'ForbiddenError'],
    [404, 'ActivityNotFoundError'],
    [404, 'ActivityNotFoundError'],
  ])
  const ofOtherType = denied.at(-1) ?? expect.unreachable()
  expect(bytesOf(ofOtherType)).toEqual(JSON.parse(JSON.stringify(bytesOf(never)).replaceAll('no-other', 'approval')))
  expect(byOperator.status).toBe(201)
  for (const { workflowId } of [own, other]) await operator.post(`${workflowId}/terminate`)
})

test('a link has one of signal, update, complete and question', async ({ callers: { operator } }) => {
  const { complete, ...question } = QUESTION
  const bodies = [question, { ...question, complete, signal: 'add' }, { ...question, complete: {} }]

  const answers = await Promise.all(bodies.map((body) => operator.post('own:1/links', body)))

  expect(answers.map(({ status, body }) => [status, body.issues?.[0].message])).toEqual([
    [400, 'must contain one of signal, update, complete, question'],
    [400, 'must contain one of signal, update, complete, question'],
    [400, 'is required'],
  ])
})
