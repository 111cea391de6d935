/** Which links are valid, and who can create them: threat 32 of docs/access.md. */
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Answer } from '../../support/api.ts'
import { rejectionOf } from './callers.ts'
import {
  browse,
  errorOf,
  eventsOf,
  HTML,
  JSON_ANSWER,
  LINKS,
  linkTo,
  NEW_KEY,
  OLD_KEY,
  publicApi,
  QUESTION,
  RULES,
  startRun,
  test,
} from './link-fixture.ts'

test('a token with any bit changed gets the same 404, and changes nothing (threat 64)', async ({ callers, client }) => {
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

test('an expired link is a 410, as JSON and as a page, and changes nothing (threat 65)', async ({
  callers,
  client,
}) => {
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

test('one rule must allow both links and what they send (threats 66, 105)', async ({ callers, client }) => {
  const run = await startRun(callers.as('mailer'), client)
  const create = (rule: string, more: object = {}) =>
    callers.as(rule).post(`${run.workflowId}/links`, { ...QUESTION, ...more })

  expect(rejectionOf(await create('split'))).toEqual([403, 'ForbiddenError', 'signal:add'])
  expect(rejectionOf(await create('sender'))).toEqual([403, 'ForbiddenError', 'link'])
  expect(rejectionOf(await create('narrow'))).toEqual([403, 'ForbiddenError', 'signal:add'])
  expect((await create('narrow', { signal: 'finish', choices: [{ label: 'End' }] })).status).toBe(201)
})

test('a link dies with the rule of its creator, and when the rule no longer allows it (threat 65)', async ({
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

test('a new signing key kills no link, and the removal of the old one does (threat 65)', async ({
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

test('the log has the route and the link id, but never the token (threat 68)', async ({ callers, client }) => {
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
