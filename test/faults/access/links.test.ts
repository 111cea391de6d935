/** A link takes one answer, for the run that it was created for: threat 32 of docs/access.md. */
import type { Client } from '@temporalio/client'
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { historyLengthOf } from './callers.ts'
import {
  BASE,
  browse,
  errorOf,
  eventsOf,
  HTML,
  JSON_ANSWER,
  LINKS,
  linkTo,
  publicApi,
  QUESTION,
  RULES,
  startRun,
  test,
} from './link-fixture.ts'

const pinned = ({ workflowId, runId }: { workflowId: string; runId: string }) => ({
  workflowId: `${workflowId}/runs/${runId}`,
})

async function signalsOf(client: Client, run: { workflowId: string; runId: string }) {
  return (await eventsOf(client, run)).flatMap((event) => event.workflowExecutionSignaledEventAttributes ?? [])
}

test('a link answers its run once, and the history names the link and its creator (threat 63)', async ({
  callers,
  client,
}) => {
  const run = await startRun(callers.as('mailer'), client)
  const beforeMs = Date.now()
  const created = await callers.as('mailer').post(`${run.workflowId}/links`, { ...QUESTION, expiresIn: '3d' })
  const path = created.body.url.slice(BASE.length)
  const holder = publicApi(callers.service)

  const open = await holder.call('GET', path, undefined, JSON_ANSWER)
  const first = await holder.call('POST', path, { choice: 'Reject' })
  const again = await holder.call('POST', path, { choice: 'Reject' })
  const other = await holder.call('POST', path, { choice: 'Approve' })
  const answered = await holder.call('GET', path, undefined, JSON_ANSWER)

  expect(created.body).toMatchObject({ workflowId: run.workflowId, runId: run.runId })
  expect(Date.parse(created.body.expiresAt)).toBeGreaterThanOrEqual(beforeMs + 3 * 86_400_000)
  expect(open.body).toEqual({
    title: 'Refund 120 EUR?',
    workflowName: 'messages',
    details: [{ label: 'Order', value: '17' }],
    choices: [
      { label: 'Approve', comment: 'none' },
      { label: 'Reject', comment: 'none', style: 'danger' },
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

test('scanners that fetch a link five times with GET and HEAD change nothing (threat 32)', async ({
  callers,
  client,
}) => {
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
  test(`two answers at once to two replicas: one ${kind} is recorded, and the other person learns which (threat 63)`, async ({
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

test('a link does not reach the run that continues its run (threat 66)', async ({ callers, client }) => {
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

test('after the run has ended, the answer can still be read, and no other is taken (threat 63)', async ({
  callers,
  client,
}) => {
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

test('without a worker a signal is recorded, and the link of an update can be used once one runs again', async ({
  callers: { operator, policyOf, service },
  serve,
  startWorker,
  client,
}) => {
  const taskQueue = `own-${crypto.randomUUID()}`
  const worker = await startWorker({ taskQueue })
  const run = { workflowId: `mail:${crypto.randomUUID()}` }
  await client.workflow.start('messages', { ...run, taskQueue })
  await historyLengthOf(client, run.workflowId)
  const [signal, update] = [
    await linkTo(operator, run),
    await linkTo(operator, run, { signal: undefined, update: 'set' }),
  ]
  const policy = JSON.stringify(policyOf(...RULES))
  const impatient = serve({ ...LINKS, SERVICE_POLICY: policy, SERVICE_MESSAGE_TIMEOUT: '2s' })
  await worker.stop()

  const signaled = await publicApi(impatient).call('POST', signal, { choice: 'Approve' })
  const tooEarly = await publicApi(impatient).call('POST', update, { choice: 'Reject' })
  const page = await browse(impatient, update)
  await startWorker({ taskQueue })
  const updated = await publicApi(service).call('POST', update, { choice: 'Reject' })

  expect([signaled.status, signaled.body.recorded]).toEqual([200, 'Approve'])
  expect([409, 504]).toContain(tooEarly.status)
  expect(tooEarly.body.message).toContain('the link can still be used')
  expect(page.text).toContain('<button class="danger" name="choice" value="Reject">')
  expect([updated.status, updated.body.recorded, updated.body.result?.after]).toEqual([200, 'Reject', { ok: false }])
  const state = await client.workflow.getHandle(run.workflowId).query('state')
  expect(state).toMatchObject({ gathered: [{ ok: true }], value: { ok: false } })
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
