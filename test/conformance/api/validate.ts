import { expect, test } from 'vitest'
import type { Answer } from '../../support/api.ts'
import { type ApiFixture, anId } from './api-fixture.ts'

const MEBIBYTE = 1 << 20

/** POST /workflow/validate. */
export function validate(api: () => ApiFixture): void {
  const post = (verb: string, body: unknown, headers?: Record<string, string>) =>
    api().service.post(verb, body, headers)

  /** What a client acts on, without what differs between two requests. */
  function rejection({ status, body, headers }: Answer) {
    const { requestId: _, ...problem } = body
    return { status, ...problem, retryAfter: headers.get('Retry-After'), deprecation: headers.get('Deprecation') }
  }

  test('validate: a body that run would accept is valid, and nothing starts', async () => {
    const { service, catalog, plainTaskQueue } = api()
    const workflowId = anId()
    const body = { workflowName: 'nap', input: { ms: 1 }, workflowId, memo: { order: 17 }, timeout: '5s' }

    const answers = [
      await post('validate', body),
      await post('validate', { ...body, workflowName: 'sleepFor', catalog }),
      await post('validate', { workflowName: 'anything', args: [1, 2], workflowId, catalog: plainTaskQueue }),
      await post('validate', body, { 'Idempotency-Key': workflowId }),
    ]

    expect(answers.map((answer) => [answer.status, answer.body])).toEqual(answers.map(() => [200, { valid: true }]))
    expect(answers.map(({ headers }) => headers.get('Idempotency-Replayed'))).toEqual(answers.map(() => null))
    expect((await service.get(`${workflowId}/status`)).status).toBe(404)
  })

  test('validate: an id in use is valid', async () => {
    const body = { workflowName: 'neverEnds', input: null, workflowId: anId() }
    await post('start', body)

    const { status, body: answer } = await post('validate', body)

    expect([status, answer]).toEqual([200, { valid: true }])
    await post(`${body.workflowId}/terminate`, undefined)
  })

  test('validate: responds to any other body as run does', async () => {
    const { hasGap, plainTaskQueue } = api()
    const echo = { workflowName: 'echo', input: 1 }
    const key = { 'Idempotency-Key': anId() }
    const rejected: [status: number, body: unknown, headers?: Record<string, string>][] = [
      [400, '{"workflowName":'],
      [400, {}],
      [400, { ...echo, args: [1] }],
      [400, { ...echo, timeout: 0 }],
      [400, { ...echo, retry: { attempts: 1 } }],
      [400, { ...echo, workflowId: '$mine' }],
      [400, { ...echo, cronSchedule: '@daily', startDelay: '1s' }],
      [400, { workflowName: 'nap', input: { ms: 'x' } }],
      [400, { workflowName: 'sleepFor', args: [{ ms: -1 }] }],
      [400, echo, { 'Idempotency-Key': 'a b' }],
      [400, { ...echo, workflowIdConflictPolicy: 'terminate-existing' }, key],
      [413, { ...echo, input: 'x'.repeat(2 * MEBIBYTE - 8 * 1024) }],
      [415, echo, { 'Content-Type': 'text/plain' }],
      [424, { ...echo, workflowName: 'no-such-workflow' }],
      [424, { ...echo, workflowName: 'toString', catalog: plainTaskQueue }],
      [503, { ...echo, taskQueue: anId() }],
      ...(hasGap('slashes') ? [[501, { ...echo, workflowId: 'a/b' }] as [number, unknown]] : []),
    ]

    for (const [status, body, headers] of rejected) {
      const validated = rejection(await post('validate', body, headers))
      const ran = rejection(await post('run', body, headers))

      expect(validated).toEqual(ran)
      expect(validated.status).toBe(status)
    }
  })

  test('validate: names the workflows of the catalog, as run does', async () => {
    const { body } = await post('validate', { workflowName: 'no-such-workflow', input: 1 })

    expect([body.error, body.available]).toEqual(['UnsupportedWorkflowError', expect.arrayContaining(['echo'])])
  })

  test('validate: options that only the engine can check are not checked', async () => {
    const options = [
      { searchAttributes: { Nope: { type: 'int', value: 1 } } },
      { cronSchedule: 'every day' },
      { versioningOverride: { pinned: { deploymentName: 'a', buildId: 'no-such' } } },
    ]

    const answers = await Promise.all(
      options.map((one) => post('validate', { workflowName: 'echo', input: 1, ...one })),
    )

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  })

  test('validate: needs a token, as run does', async () => {
    const { status } = await api().restrictedService.post('validate', {}, { Authorization: 'Basic no' })

    expect(status).toBe(401)
  })
}
