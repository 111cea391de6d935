/** The rights `complete` and `repair`, narrowed by the type of the activity: threats 16, 19, 21, 22 of access.md. */
import { expect } from 'vitest'
import type { Api } from '../../support/api.ts'
import { bytesOf, rejectionOf, testWithCallers, tokenRule, untilOpen } from './callers.ts'

const RULES = [
  tokenRule('mail', { can: ['complete:outside'], ids: ['own:*'] }),
  tokenRule('all', { can: ['complete'], ids: ['own:*'] }),
  // The first rule has the type, the second has the workflow: neither has both.
  { ...tokenRule('split', { can: ['complete:outside'], workflows: ['messages'] }) },
  { ...tokenRule('split-workflow', { can: ['complete:other*'], workflows: ['completesOutside'] }, 'split-token') },
  tokenRule('signals', { can: ['signal', 'read'], ids: ['own:*'] }),
  tokenRule('repairs', { can: ['read', 'repair:outside'], ids: ['own:*'], options: ['priority'] }),
  tokenRule('changes', { can: ['repair'], ids: ['own:*'], options: ['priority'] }),
  tokenRule('moves', { can: ['repair'], ids: ['own:*'], catalogs: ['elsewhere'], options: ['versioningOverride'] }),
  tokenRule('twin-a', { can: ['complete'], ids: ['own:*'] }),
]

const test = testWithCallers(RULES, { SERVICE_AUDIT: 'all' })

/** The path of an activity that waits. */
async function waiting(operator: Api, input: object = {}): Promise<string> {
  const workflowId = `own:${crypto.randomUUID()}`
  await operator.start('completesOutside', input, { workflowId })
  const activity = `${workflowId}/activities/approval`
  await untilOpen(operator, activity)
  return activity
}

test('a caller without the right, or for other ids, gets the same 403 for activities that exist and that do not (threat 39)', async ({
  callers: { as, operator },
}) => {
  const activity = await waiting(operator)
  const missing = `own:${crypto.randomUUID()}/activities/approval`

  const answers = await Promise.all([
    as('signals').post(`${activity}/complete`),
    as('signals').post(`${missing}/complete`),
    as('mail').post('other:1/activities/approval/complete'),
    as('mail').post('other:1/activities/approval/heartbeat'),
  ])

  expect(answers.map(rejectionOf)).toEqual(answers.map(() => [403, 'ForbiddenError', 'complete']))
  await operator.post(`${activity}/complete`)
})

test('a narrowed right completes activities of its type, and an activity of another type is like a missing one (threat 39)', async ({
  callers: { as, operator, service },
}) => {
  const [own, other] = [await waiting(operator), await waiting(operator, { type: 'outsideToo', staysOpen: true })]
  const lines: { message: string; requestId: string; action: string; rule: string; status: number }[] = []
  service.onLine((line) => lines.push(JSON.parse(line)))
  const never = other.replace('approval', 'never-scheduled')
  /** The response, and whether it has the bytes of that for an activity that was never scheduled. */
  const hidden = async (verb: string) => {
    const exists = await as('mail').post(`${other}/${verb}`, body(verb))
    const missing = await as('mail').post(`${never}/${verb}`, body(verb))
    const expected = JSON.stringify(bytesOf(missing)).replaceAll('never-scheduled', 'approval')
    return { exists, same: JSON.stringify(bytesOf(exists)) === expected }
  }

  const denied = [await hidden('complete'), await hidden('fail'), await hidden('heartbeat')]
  const completed = await as('mail').post(`${own}/complete`, { output: 1 })
  await operator.post(`${other}/complete`)
  const over = await as('mail').post(`${other}/complete`)
  const whole = await as('all').post(`${other}/complete`)

  expect(denied.map(({ exists, same }) => [exists.status, exists.body.error, same])).toEqual(
    denied.map(() => [404, 'ActivityNotFoundError', true]),
  )
  expect(completed.status).toBe(200)
  expect([over.body.completed, whole.body.completed]).toEqual([undefined, true])
  const audit = (requestId: string | null) => {
    const { action, rule, status } =
      lines.find((line) => line.message === 'audit' && line.requestId === requestId) ?? expect.unreachable()
    return [action, rule, status]
  }
  expect(audit(completed.headers.get('X-Request-Id'))).toEqual(['complete:outside', 'mail', 200])
  expect(audit(denied[0]?.exists.headers.get('X-Request-Id') ?? null)).toEqual(['complete:outsideToo', 'none', 404])
  await operator.post(`${other.split('/')[0]}/terminate`)
})

function body(verb: string): object {
  return verb === 'fail' ? { message: 'no' } : {}
}

test('one rule must allow the type and the workflow of the run (threats 39, 105)', async ({
  callers: { as, operator },
}) => {
  const activity = await waiting(operator)

  const { status, body } = await as('split').post(`${activity}/complete`)

  expect([status, body.error]).toEqual([404, 'ActivityNotFoundError'])
  await operator.post(`${activity}/complete`)
})

test('repairs need their right for the type, the task queue and each option, and explain offers what is allowed (threat 39)', async ({
  callers: { as, operator, service },
}) => {
  const [own, other] = [
    await waiting(operator, { retryInterval: '1h' }),
    await waiting(operator, { type: 'outsideToo', retryInterval: '1h' }),
  ]
  const lines: { message: string; requestId: string; action: string }[] = []
  service.onLine((line) => lines.push(JSON.parse(line)))
  for (const activity of [own, other]) await operator.post(`${activity}/fail`, { message: 'no' })
  const never = other.replace('approval', 'never-scheduled')
  const idOf = (activity: string) => activity.split('/')[0]
  const actionsOf = async (activity: string) => {
    const { body } = await as('repairs').get(`${idOf(activity)}/explain`)
    return body.reasons.map(({ action }: { action: object | null }) => action !== null)
  }
  const patch = (rule: string, path: string, body: object) => as(rule).call('PATCH', `/workflow/${path}`, body)

  const offered = [await actionsOf(own), await actionsOf(other)]
  const [hidden, missing] = [await as('repairs').post(`${other}/retry`), await as('repairs').post(`${never}/retry`)]
  const denied = [
    await as('all').post(`${own}/retry`),
    await patch('repairs', own, { taskQueue: 'elsewhere' }),
    await patch('repairs', `${idOf(own)}/options`, { priority: { priorityKey: 1 } }),
    await patch('changes', `${idOf(own)}/options`, { versioningOverride: 'auto-upgrade' }),
  ]
  const retried = await as('repairs').post(`${own}/retry`)
  const allowed = [
    await patch('moves', own, { taskQueue: 'elsewhere' }),
    await patch('moves', `${idOf(own)}/options`, { versioningOverride: 'auto-upgrade' }),
  ]
  // The engine then starts an attempt that waits: docs/api/control.md.
  const changed = await patch('changes', `${idOf(own)}/options`, { priority: { priorityKey: 1 } })

  expect(offered).toEqual([[true], [false]])
  expect(JSON.stringify(bytesOf(hidden))).toBe(
    JSON.stringify(bytesOf(missing)).replaceAll('never-scheduled', 'approval'),
  )
  expect([hidden.status, changed.status, retried.status]).toEqual([404, 200, 200])
  expect(denied.map(rejectionOf)).toEqual(denied.map(() => [403, 'ForbiddenError', 'repair']))
  expect(allowed.map(({ status }) => status)).toEqual([200, 200])
  const ofRequest = retried.headers.get('X-Request-Id')
  expect(lines.find((line) => line.message === 'audit' && line.requestId === ofRequest)?.action).toBe('repair:outside')
  for (const activity of [own, other]) await operator.post(`${idOf(activity)}/terminate`)
})

test('a key belongs to its caller: that of another one completes nothing twice, and gets no 200 (threat 39)', async ({
  callers: { as, operator },
}) => {
  const activity = await waiting(operator, { staysOpen: true })
  const key = { 'Idempotency-Key': 'the-same' }

  const first = await as('all').post(`${activity}/complete`, { output: 1 }, key)
  const again = await as('all').post(`${activity}/complete`, { output: 1 }, key)
  const others = [
    await as('twin-a').post(`${activity}/complete`, { output: 1 }, key),
    await operator.post(`${activity}/complete`, { output: 1 }, key),
  ]

  expect([first.status, again.status]).toEqual([200, 200])
  expect(others.map(({ status, body }) => [status, body.completed])).toEqual([
    [404, true],
    [404, true],
  ])
  await operator.post(`${activity.split('/')[0]}/terminate`)
})
