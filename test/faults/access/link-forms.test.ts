/** What the page of a link shows, and which answers it can send: threat 32 of docs/access.md. */
import type { Client } from '@temporalio/client'
import { expect } from 'vitest'
import { proveChecked } from '../../support/checked.ts'
import type { Callers } from './callers.ts'
import { APPROVE, browse, eventsOf, FORM, linkTo, publicApi, QUESTION, REJECT, startRun, test } from './link-fixture.ts'

interface Context {
  callers: Callers
  client: Client
}

/** A test that is repeated if one of its payloads was not checked in time. */
function schemaTest(name: string, prove: (context: Context) => Promise<void>): void {
  test(name, async ({ callers, client }) => {
    const lines: string[] = []
    callers.service.onLine((line) => lines.push(line))
    await proveChecked(
      () => {
        lines.length = 0
        return prove({ callers, client })
      },
      async () => lines.some((line) => line.includes('"inputUnchecked"')),
    )
  })
}

test('pages of other sites cannot send an answer, and the form of the page can (threat 67)', async ({
  callers,
  client,
}) => {
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

schemaTest(
  'a comment becomes part of the payload, which passes the published schema again (threat 69)',
  async ({ callers, client }) => {
    const run = await startRun(callers.as('mailer'), client)
    const choices = [APPROVE, { ...REJECT, comment: 'required' }]
    const path = await linkTo(callers.as('mailer'), run, { choices })
    const holder = publicApi(callers.service)

    const rejected = [
      await holder.call('POST', path, { choice: 'Reject' }),
      await holder.call('POST', path, { choice: 'Reject', comment: ' ' }),
      await holder.call('POST', path, { choice: 'Reject', comment: 'no' }),
      await holder.call('POST', path, { choice: 'Approve', comment: 'fine' }),
      await holder.call('POST', path, { choice: 'Perhaps' }),
    ]
    const length = (await eventsOf(client, run)).length
    const recorded = await holder.call('POST', path, 'choice=Reject&comment=Too+much%0D%0Amoney', FORM)
    const other = await holder.call('POST', path, { choice: 'Reject', comment: 'another' })

    expect(rejected.map(({ status, body }) => [status, body.issues[0].path])).toEqual([
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
  },
)

schemaTest(
  'payloads that do not match the published schema are rejected when the link is created (threat 69)',
  async ({ callers, client }) => {
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
  },
)

test('the eleventh answer within a minute is a 429, of each link (threat 69)', async ({ callers, client }) => {
  const run = await startRun(callers.as('mailer'), client)
  const [path, another] = [await linkTo(callers.as('mailer'), run), await linkTo(callers.as('mailer'), run)]
  const holder = publicApi(callers.service)

  // At once: six seconds after the first answer the link takes another one.
  const answers = await Promise.all(Array.from({ length: 11 }, () => holder.call('POST', path, { choice: 'Perhaps' })))
  const limited = answers.filter(({ status }) => status === 429)

  expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(10).fill(400), 429])
  expect(limited[0]?.body.error).toBe('TooManyRequestsError')
  // 6 s, less the time since the first answer on a busy machine.
  expect(limited[0]?.headers.get('Retry-After')).toMatch(/^[1-6]$/)
  expect((await holder.call('POST', another, { choice: 'Approve' })).status).toBe(200)
})

test('the page and its errors are HTML with the headers that keep the token private (threats 67, 68)', async ({
  callers,
  client,
}) => {
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
