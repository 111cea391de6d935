/** One service for two namespaces with the same workflow ids, task queue and keys: nothing of one is in the other. */
import { Client } from '@temporalio/client'
import { expect } from 'vitest'
import { until } from '../../src/cli/dev/servers/until.ts'
import { sha256 } from '../../src/shared/lib/digest.ts'
import type { Answer } from '../support/api.ts'
import { PREFIXES, test } from './namespaces-fixture.ts'

test('the same workflow id is a run of its own in each namespace, also when both are waited for at once', async ({
  both: { call },
}) => {
  const workflowId = `twin-${crypto.randomUUID()}`
  const run = async (prefix: string, input: string) =>
    (await call('POST', `${prefix}/workflow/run`, { workflowName: 'echo', workflowId, input })).body

  const [own, acme] = await Promise.all([run(PREFIXES.own, 'own'), run(PREFIXES.acme, 'of acme')])

  expect([own.output, acme.output]).toEqual(['own', 'of acme'])
  // Twice, so that the second response is from the cache of closed runs.
  for (let count = 0; count < 2; count++) {
    const outputs = Object.values({ ...PREFIXES, named: '/namespaces/default' }).map(
      async (prefix) => (await call('GET', `${prefix}/workflow/${workflowId}/result`)).body.output,
    )
    expect(await Promise.all(outputs)).toEqual(['own', 'of acme', 'own'])
  }
})

test('a run of one namespace does not exist in the other, although it was read there a moment ago (threat 35)', async ({
  both: { call },
}) => {
  const { workflowId, runId } = (
    await call('POST', '/namespaces/acme/workflow/run', { workflowName: 'echo', input: 'secret' })
  ).body
  const paths = [workflowId, `${workflowId}/runs/${runId}`].flatMap((run) =>
    [
      'status',
      'result',
      'input',
      'history',
      'explain',
      'trace-log',
      'query/state',
      'signal/finish',
      'stop',
      'terminate',
    ].map((verb) => `/workflow/${run}/${verb}`),
  )
  const methodOf = (path: string) =>
    path.endsWith('/stop') ? 'PATCH' : /query|signal|terminate/.test(path) ? 'POST' : 'GET'
  expect((await call('GET', `/namespaces/acme/workflow/${workflowId}/runs/${runId}/result`)).body.output).toBe('secret')

  const answers: Answer[] = []
  // All at once would take a slow engine longer than a request may take.
  for (const path of paths) answers.push(await call(methodOf(path), path))

  expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
    paths.map(() => [404, 'WorkflowNotFoundError']),
  )
  expect(answers.map(({ text }) => text).join()).not.toContain('secret')
})

test('repairs and questions are below the namespace, as are the requests that explain names (threat 35)', async ({
  both: { call },
  connection,
  catalog: taskQueue,
}) => {
  const client = new Client({ connection, namespace: 'acme' })
  const start = async (name: string, input: object) => {
    const workflowId = `${name}-${crypto.randomUUID()}`
    await client.workflow.start(name, { taskQueue, workflowId, args: [input] })
    return `/workflow/${workflowId}`
  }
  const [asking, failing] = [await start('asksPerson', {}), await start('completesOutside', { retryInterval: '1h' })]
  const activity = `${PREFIXES.acme}${failing}/activities/approval`
  const act = (path: string, body?: object) => call('POST', path, body)
  const actionOf = (run: string) =>
    until('there is something to do', async () => {
      return (await call('GET', `${PREFIXES.acme}${run}/explain`)).body.reasons?.[0].action
    })
  await until('an attempt is executed', async () => (await act(`${activity}/heartbeat`)).status === 200)
  await act(`${activity}/fail`, { message: 'no' })
  const [answer, retry] = [await actionOf(asking), await actionOf(failing)]
  const listed = async (prefix: string) => (await call('GET', `${prefix}/questions`)).body.questions

  const questions = await until('the question is listed', async () => {
    const found = await listed(PREFIXES.acme)
    return found.length > 0 && found
  })
  const others = await listed(PREFIXES.own)
  const elsewhere = await act(answer.path.slice(PREFIXES.acme.length), { content: { approved: true } })
  const repairs = [
    await act(retry.path),
    await act(`${activity}/pause`),
    await act(`${activity}/unpause`),
    await call('PATCH', activity, { heartbeatTimeout: '2m' }),
    await call('PATCH', `${PREFIXES.acme}${failing}/options`, { priority: { priorityKey: 1 } }),
  ]
  const answered = await act(answer.path, { content: { approved: true } })

  expect([questions.length, others, elsewhere.status]).toEqual([1, [], 404])
  expect(answer.path).toMatch(/^\/namespaces\/acme\/workflow\/asksPerson-.+\/runs\/.+\/questions\/question-1\/answer$/)
  expect(retry.path).toMatch(/^\/namespaces\/acme\/.+\/activities\/approval\/retry$/)
  expect([...repairs, answered].map(({ status }) => status)).toEqual(Array(6).fill(200))
  await act(`${PREFIXES.acme}${failing}/terminate`)
})

test('a key starts one run in each namespace, and repeats it there', async ({ both: { call } }) => {
  const headers = { 'Idempotency-Key': `key-${crypto.randomUUID()}` }
  const start = (prefix: string) =>
    call('POST', `${prefix}/workflow/start`, { workflowName: 'echo', input: 1 }, headers)

  const [own, acme] = [await start(PREFIXES.own), await start(PREFIXES.acme)]
  const repeated = [await start(PREFIXES.own), await start(PREFIXES.acme)]

  expect(own.body.workflowId).toBe(acme.body.workflowId)
  expect(own.body.runId).not.toBe(acme.body.runId)
  expect(acme.headers.get('Idempotency-Replayed')).toBe('false')
  expect(repeated.map(({ body, headers }) => [body.runId, headers.get('Idempotency-Replayed')])).toEqual([
    [own.body.runId, 'true'],
    [acme.body.runId, 'true'],
  ])
})

test('a page token of one namespace is rejected in the other (threat 35)', async ({ both: { call } }) => {
  const start = (prefix: string, workflowId?: string) =>
    call('POST', `${prefix}/workflow/run`, { workflowName: 'echo', input: 1, ...(workflowId && { workflowId }) })
  const { workflowId } = (await start(PREFIXES.acme)).body
  await start(PREFIXES.acme)
  await start(PREFIXES.own, workflowId)
  const lists = ['runs?pageSize=1', `${workflowId}/history?pageSize=1`]
  const tokens = await Promise.all(
    lists.map((path) =>
      until(`${path} has a next page`, async () => {
        return (await call('GET', `/namespaces/acme/workflow/${path}`)).body.nextPageToken
      }),
    ),
  )

  const pageIn = (prefix: string) =>
    Promise.all(
      lists.map((path, index) =>
        call('GET', `${prefix}/workflow/${path}&pageToken=${encodeURIComponent(String(tokens[index]))}`),
      ),
    )

  expect((await pageIn(PREFIXES.acme)).map(({ status }) => status)).toEqual([200, 200])
  expect((await pageIn(PREFIXES.own)).map(({ status, body }) => [status, body.error])).toEqual([
    [400, 'InvalidPageTokenError'],
    [400, 'InvalidPageTokenError'],
  ])
})

test('lists and counts have the runs of their namespace only (threat 35)', async ({ both: { call } }) => {
  const mark = `count-${crypto.randomUUID()}`
  for (const [prefix, count] of [
    [PREFIXES.own, 1],
    [PREFIXES.acme, 2],
  ] as const)
    for (let index = 0; index < count; index++)
      await call('POST', `${prefix}/workflow/start`, { workflowName: 'echo', input: 1, workflowId: `${mark}-${index}` })
  const query = new URLSearchParams({ query: `WorkflowId STARTS_WITH "${mark}"` })
  const countIn = async (prefix: string) => (await call('GET', `${prefix}/workflow/runs/count?${query}`)).body.count

  await until('all runs are listed', async () => (await countIn(PREFIXES.acme)) === 2)

  expect(await until('the run is listed', async () => (await countIn(PREFIXES.own)) || null)).toBe(1)
  expect((await call('GET', `/namespaces/acme/workflow/runs?${query}`)).body.runs).toHaveLength(2)
})

test('two tenants of one service: each has its namespace, and cannot find the other (threat 35)', async ({
  serve,
  workers: _,
}) => {
  const tokens = { own: `own-${crypto.randomUUID()}`, acme: `acme-${crypto.randomUUID()}` }
  const rules = await Promise.all(
    Object.entries(tokens).map(async ([name, token]) => ({
      name,
      who: { token: [`sha256:${await sha256(token)}`] },
      can: ['*'],
      ...(name === 'acme' && { namespaces: ['acme'] }),
    })),
  )
  const { call } = serve({
    ENGINE_NAMESPACES: 'acme',
    SERVICE_POLICY: JSON.stringify({ version: 1, rules }),
  })
  const as = (token: string) => (method: string, path: string, body?: unknown) =>
    call(method, path, body, { Authorization: `Bearer ${token}`, 'X-Request-Id': 'same' })
  const [own, acme] = [as(tokens.own), as(tokens.acme)]
  const run = { workflowName: 'echo', input: 'of acme' }
  const { workflowId } = (await acme('POST', '/namespaces/acme/workflow/run', run)).body

  const answers = await Promise.all([
    own('GET', `/namespaces/acme/workflow/${workflowId}/result`),
    own('GET', `/namespaces/none/workflow/${workflowId}/result`),
    acme('GET', `/namespaces/default/workflow/${workflowId}/result`),
    own('POST', '/namespaces/acme/workflow/run', run),
    own('GET', '/namespaces/acme/ready'),
  ])
  const withoutNamespace = await acme('POST', '/workflow/run', run)

  expect((await acme('GET', `/namespaces/acme/workflow/${workflowId}/result`)).body.output).toBe('of acme')
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
  expect(answers[0]?.body).toMatchObject({ status: 404, error: 'NotFoundError' })
  expect(withoutNamespace.body).toMatchObject({ status: 403, error: 'ForbiddenError', action: 'namespace' })
})
