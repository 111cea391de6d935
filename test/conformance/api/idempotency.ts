import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { Answer } from '../../support/api.ts'
import { type ApiFixture, anId, startDirectly, untilStatus } from './api-fixture.ts'

/** `Idempotency-Key` on `run`, `start`, `signal`, `update` and `update-with-start`. */
export function idempotency(api: () => ApiFixture): void {
  const post = (path: string, key: string | null, body?: object) =>
    api().service.post(path, body, key === null ? {} : { 'Idempotency-Key': key })

  const get = async (path: string) => (await api().service.get(path)).body
  const replayed = (...answers: Answer[]) => answers.map(({ headers }) => headers.get('Idempotency-Replayed'))
  const rejection = ({ status, body }: Answer) => [status, body.error]
  const idOf = (key: string) => `key-${createHash('sha256').update(key).digest('hex').slice(0, 32)}`

  test('Idempotency-Key: a start with a key starts one run; a repeat, also as a run, is about that run', async () => {
    const key = anId()
    const body = { workflowName: 'waitForSignal', input: { a: 1, b: [2] } }

    const first = await post('start', key, body)
    const again = await post('start', key, { input: { b: [2], a: 1 }, workflowName: 'waitForSignal', timeout: 9 })
    const waiting = post('run', key, body)
    await post(`${first.body.workflowId}/signal/finish`, null, { payload: 'done' })
    const waited = await waiting
    const stored = await post('run', key, body)
    const late = await post('start', key, body)

    expect(first.body).toEqual({ workflowId: idOf(key), runId: first.body.runId, status: 'running' })
    expect(again.body).toEqual(first.body)
    expect(waited.body).toMatchObject({ runId: first.body.runId, status: 'completed', output: ['done'] })
    expect([stored.body, await get(`${idOf(key)}/result`)]).toEqual([waited.body, waited.body])
    expect(late.body).toEqual({ ...first.body, status: 'completed' })
    expect(replayed(first, again, waited, stored, late)).toEqual(['false', 'true', 'true', 'true', 'true'])
  })

  test('Idempotency-Key: the same key with another request is rejected, whether the run is open or closed', async () => {
    const key = anId()
    const body = { workflowName: 'neverEnds', input: 1 }
    const { body: run } = await post('start', key, body)

    const others = await Promise.all([
      post('start', key, { ...body, input: 2 }),
      post('run', key, { ...body, workflowName: 'echo' }),
      post('start', key, { ...body, memo: { order: 17 } }),
      post('start', key, { ...body, catalog: api().plainTaskQueue }),
    ])
    await post(`${run.workflowId}/terminate`, null)
    const late = await post('start', key, { ...body, input: 2 })
    const invalid = await post('start', key, { ...body, args: [1] })

    const { workflowId, runId } = run
    for (const other of [...others, late]) {
      expect(rejection(other)).toEqual([422, 'IdempotencyKeyReusedError'])
      expect(other.body).toMatchObject({ workflowId, runId })
    }
    expect(rejection(invalid)).toEqual([400, 'ValidationError'])
    expect(replayed(...others, late, invalid)).toEqual([...others, late, invalid].map(() => 'false'))
    expect(await get(`${workflowId}/status`)).toMatchObject({ runId, status: 'terminated' })
  })

  test('Idempotency-Key: with a workflowId, another key is a 409 while the run is open, and an ordinary start after it', async () => {
    const workflowId = anId()
    const body = { workflowName: 'waitForSignal', input: null, workflowId }
    const first = await post('start', 'a', body)

    const [again, other, unkeyed] = [
      await post('start', 'a', body),
      await post('start', 'b', body),
      await post('start', null, body),
    ]
    await post(`${workflowId}/signal/finish`, null)
    await untilStatus(api(), workflowId, 'completed')
    const stored = await post('start', 'a', body)
    const next = await post('start', 'b', body)

    expect(again.body).toEqual(first.body)
    expect([rejection(other), rejection(unkeyed)]).toEqual([
      [409, 'WorkflowAlreadyStartedError'],
      [409, 'WorkflowAlreadyStartedError'],
    ])
    expect(stored.body).toEqual({ ...first.body, status: 'completed' })
    expect([next.status, next.body.status]).toEqual([200, 'running'])
    expect(next.body.runId).not.toBe(first.body.runId)
    const found = replayed(first, again, other, unkeyed, stored, next)
    expect(found).toEqual(['false', 'true', 'false', null, 'true', 'false'])
    await post(`${workflowId}/terminate`, null)
  })

  test('Idempotency-Key: a chain that continued as new is one run: its first run id, and its last result', async () => {
    const key = anId()
    const body = { workflowName: 'chainOnSignal', input: 1 }
    const { body: first } = await post('start', key, body)
    const { workflowId } = first
    await post(`${workflowId}/signal/next`, null)
    const latest = await until('it has continued', async () => {
      const { runId } = await get(`${workflowId}/status`)
      return runId !== first.runId && runId
    })

    const again = await post('start', key, body)
    const waiting = post('run', key, body)
    await post(`${workflowId}/signal/finish`, null)
    const waited = await waiting
    const stored = await post('run', key, body)
    const other = await post('run', key, { ...body, input: 2 })

    expect(again.body).toEqual(first)
    expect(waited.body).toMatchObject({ runId: latest, status: 'completed', input: 2, output: 2 })
    expect(stored.body).toEqual(waited.body)
    expect(rejection(other)).toEqual([422, 'IdempotencyKeyReusedError'])
  })

  test('Idempotency-Key: a run receives a signal and an update once for each key and handler', async () => {
    const { body: run } = await post('start', anId(), { workflowName: 'messages', input: null })
    const path = run.workflowId
    const key = anId()

    const signals = [
      await post(`${path}/signal/add`, key, { payload: 1 }),
      await post(`${path}/signal/add`, key, { payload: 1 }),
    ]
    await post(`${path}/signal/add`, anId(), { payload: 2 })
    const updates = [
      await post(`${path}/update/set`, key, { payload: 'x' }),
      await post(`${path}/update/set`, key, { payload: 'x' }),
    ]
    const { body: state } = await post(`${path}/query/state`, key)

    expect(signals.map(({ status, body }) => [status, body.runId])).toEqual(signals.map(() => [200, run.runId]))
    expect(updates.map(({ body }) => body)).toEqual(updates.map(() => ({ before: null, after: 'x' })))
    expect(state).toEqual({ gathered: [1, 2], value: 'x' })
    expect((await post(`${path}/update/echo`, key, { args: [1, 2] })).body).toEqual([1, 2])
    await post(`${path}/signal/finish`, key)
    await untilStatus(api(), path, 'completed')
    expect((await post(`${path}/update/set`, key, { payload: 'x' })).body).toEqual({ before: null, after: 'x' })
    const late = await post(`${path}/signal/add`, key, { payload: 1 })
    expect([late.status, late.body]).toEqual([200, signals[0]?.body])
  })

  test('Idempotency-Key: an update-with-start starts one run, updates it once, and finds it again', async () => {
    const key = anId()
    const body = { workflowName: 'messages', input: null, payload: 'x' }
    const first = await post('update-with-start/set', key, body)
    if (api().hasGap('update-with-start')) return expect(first.status).toBe(501)

    const again = await post('update-with-start/set', key, body)
    const other = await post('update-with-start/set', key, { ...body, payload: 'y' })
    await post(`${first.body.workflowId}/signal/finish`, null)
    await untilStatus(api(), first.body.workflowId, 'completed')
    const late = await post('update-with-start/set', key, body)
    const lateOther = await post('update-with-start/set', key, { ...body, payload: 'y' })

    expect(first.body).toMatchObject({ workflowId: idOf(key), started: true, result: { before: null, after: 'x' } })
    expect([again.body, late.body]).toEqual([first.body, first.body])
    expect([other, lateOther].map(rejection)).toEqual([other, lateOther].map(() => [422, 'IdempotencyKeyReusedError']))
    expect(replayed(first, again, late)).toEqual(['false', 'true', 'true'])
  })

  test('Idempotency-Key: a signal-with-start starts one run, signals it once, and finds it again', async () => {
    const key = anId()
    const body = { workflowName: 'messages', input: null, payload: 'x' }

    const first = await post('signal-with-start/add', key, body)
    const again = await post('signal-with-start/add', key, body)
    const other = await post('signal-with-start/add', key, { ...body, payload: 'y' })
    const { workflowId, runId } = first.body
    const { body: state } = await post(`${workflowId}/query/state`, null, {})
    await post(`${workflowId}/signal/finish`, null)
    await untilStatus(api(), workflowId, 'completed')
    const late = await post('signal-with-start/add', key, body)

    expect(first.body).toEqual({ workflowId: idOf(key), runId, started: true })
    expect([again.body, late.body, state.gathered]).toEqual([first.body, first.body, ['x']])
    expect(rejection(other)).toEqual([422, 'IdempotencyKeyReusedError'])
    expect(replayed(first, again, late)).toEqual(['false', 'true', 'true'])
  })

  test('Idempotency-Key: the key of a signal-with-start is rejected for its signal alone, and not for other handlers', async () => {
    const key = anId()
    const body = { workflowName: 'messages', input: null, workflowId: anId(), payload: 'x' }
    const { workflowId } = body
    const first = await post('signal-with-start/add', key, body)
    const { runId } = first.body

    const rejected = [
      await post(`${workflowId}/signal/add`, key, { payload: 'y' }),
      await post(`${workflowId}/runs/${runId}/signal/add`, key, { payload: 'x' }),
      // A service that has not started the run.
      await api().serviceBehindFaultProxy.post(
        `${workflowId}/signal/add`,
        { payload: 'y' },
        { 'Idempotency-Key': key },
      ),
    ]
    const again = await post('signal-with-start/add', key, body)
    const others = [
      await post(`${workflowId}/update/set`, key, { payload: 'z' }),
      await post(`${workflowId}/signal/add`, `${key}-2`, { payload: 'y' }),
    ]
    const { body: state } = await post(`${workflowId}/query/state`, null, {})
    await post(`${workflowId}/signal/finish`, key)
    await untilStatus(api(), workflowId, 'completed')

    for (const answer of rejected) {
      expect(rejection(answer)).toEqual([422, 'IdempotencyKeyReusedError'])
      expect(answer.body).toMatchObject({ workflowId, runId })
    }
    expect([again.body, ...replayed(again)]).toEqual([first.body, 'true'])
    expect(others.map(({ status }) => status)).toEqual([200, 200])
    expect(state).toEqual({ gathered: ['x', 'y'], value: 'z' })
  })

  test('Idempotency-Key: the key of an update-with-start is rejected for its update alone', async () => {
    const key = anId()
    const body = { workflowName: 'messages', input: null, workflowId: anId(), payload: 'x' }
    const { workflowId } = body
    const first = await post('update-with-start/set', key, body)
    if (api().hasGap('update-with-start')) return expect(first.status).toBe(501)

    const headers = { 'Idempotency-Key': key, Prefer: 'respond-async' }
    const rejected = [
      await post(`${workflowId}/update/set`, key, { payload: 'x' }),
      await api().service.post(`${workflowId}/update/set`, { payload: 'x' }, headers),
    ]
    const again = await post('update-with-start/set', key, body)
    const other = await post(`${workflowId}/signal/add`, key, { payload: 'y' })
    const { body: state } = await post(`${workflowId}/query/state`, null, {})
    await post(`${workflowId}/terminate`, null)

    expect(rejected.map(rejection)).toEqual(rejected.map(() => [422, 'IdempotencyKeyReusedError']))
    expect([again.body, ...replayed(again)]).toEqual([first.body, 'true'])
    expect([other.status, state]).toEqual([200, { gathered: ['y'], value: 'x' }])
  })

  test('Idempotency-Key: a key is free again for a later use of the workflow id', async () => {
    const key = anId()
    const body = { workflowName: 'messages', input: null, workflowId: anId(), payload: 'x' }
    const { workflowId } = body
    await post('signal-with-start/add', key, body)
    await post(`${workflowId}/terminate`, null)
    // The service still knows the first run when it gets the signal.
    const { firstExecutionRunId: runId } = await startDirectly(api(), 'messages', { workflowId })

    const answer = await post(`${workflowId}/signal/add`, key, { payload: 'y' })

    expect([answer.status, answer.body.runId]).toEqual([200, runId])
    await post(`${workflowId}/terminate`, null)
  })

  test('Idempotency-Key: a signal-with-start signals the open run of another request once', async () => {
    const { body: run } = await post('start', null, { workflowName: 'messages', input: null, workflowId: anId() })
    const body = { workflowName: 'messages', input: null, workflowId: run.workflowId, payload: 'x' }

    const answers = [await post('signal-with-start/add', 'a', body), await post('signal-with-start/add', 'a', body)]
    const { body: state } = await post(`${run.workflowId}/query/state`, null, {})

    const found = { workflowId: run.workflowId, runId: run.runId, started: false }
    expect([answers.map((answer) => answer.body), state.gathered]).toEqual([[found, found], ['x']])
    await post(`${run.workflowId}/signal/finish`, null)
    await untilStatus(api(), run.workflowId, 'completed')
    const late = await post('signal-with-start/add', 'a', body)
    expect([late.body, ...replayed(late)]).toEqual([found, 'true'])
    const other = await post('signal-with-start/add', 'b', body)
    expect([other.status, other.body.started, ...replayed(other)]).toEqual([200, true, 'false'])
    await post(`${run.workflowId}/terminate`, null)
  })

  test('Idempotency-Key: an update-with-start updates the open run that another request has started', async () => {
    const { body: run } = await post('start', null, { workflowName: 'messages', input: null, workflowId: anId() })
    const { workflowId } = run
    const body = { workflowName: 'messages', input: null, workflowId, payload: 'x' }
    const first = await post('update-with-start/set', 'a', body)
    if (api().hasGap('update-with-start')) return expect(first.status).toBe(501)

    const again = await post('update-with-start/set', 'a', body)
    const rejected = await post('update-with-start/set', 'a', { ...body, workflowIdConflictPolicy: 'fail' })

    expect(first.body).toEqual({
      ...again.body,
      runId: run.runId,
      started: false,
      result: { before: null, after: 'x' },
    })
    expect(again.body).toEqual(first.body)
    expect(rejection(rejected)).toEqual([409, 'WorkflowAlreadyStartedError'])
    await post(`${workflowId}/signal/finish`, null)
    await untilStatus(api(), workflowId, 'completed')
    const late = await post('update-with-start/set', 'a', body)
    expect([late.body, ...replayed(late)]).toEqual([first.body, 'true'])
    const other = await post('update-with-start/set', 'b', body)
    expect([other.status, other.body.started, ...replayed(other)]).toEqual([200, true, 'false'])
    await post(`${workflowId}/terminate`, null)
  })

  test('Idempotency-Key: a key is 1 to 255 visible ASCII characters, on requests that support it', async () => {
    const keys = ['', ' ', 'a b', 'x'.repeat(256), 'ä', '\t']
    const body = { workflowName: 'echo', input: 1 }

    const rejected = await Promise.all(keys.map((key) => post('run', key, body)))
    const longest = await post('run', anId().padEnd(255, '~'), body)
    const ended = await post(`${anId()}/terminate`, 'a')

    for (const answer of rejected) {
      expect(rejection(answer)).toEqual([400, 'ValidationError'])
      expect(answer.body.message).toContain('Idempotency-Key')
    }
    expect([longest.status, longest.body.output]).toEqual([200, 1])
    expect(rejection(ended)).toEqual([501, 'NotSupportedError'])
  })

  test('Idempotency-Key: an open run may be found, but not terminated', async () => {
    const workflowId = anId()
    const body = { workflowName: 'neverEnds', input: null, workflowId }
    const { body: run } = await post('start', null, body)

    const found = await post('start', 'a', { ...body, workflowIdConflictPolicy: 'use-existing' })
    const rejected = await post('start', 'a', { ...body, workflowIdConflictPolicy: 'terminate-existing' })

    expect(found.body).toEqual(run)
    expect([found.headers.get('Portico-Started'), ...replayed(found)]).toEqual(['false', 'false'])
    const facts = [...rejection(rejected), rejected.body.issues[0].path]
    expect(facts).toEqual([400, 'ValidationError', '/workflowIdConflictPolicy'])
    await post(`${workflowId}/terminate`, null)
  })

  test('Idempotency-Key: a history shows the memo without the record of the key', async () => {
    const key = anId()
    const start = { workflowName: 'echo', input: 1 }

    await post('run', `${key}-1`, { ...start, memo: { order: 17 } })
    await post('run', `${key}-2`, start)
    const first = async (id: string) => (await get(`${idOf(id)}/history`)).events[0]

    expect([(await first(`${key}-1`)).memo, (await first(`${key}-2`)).memo]).toEqual([{ order: 17 }, undefined])
    expect(rejection(await post('start', null, { ...start, memo: { $idempotency: {} } }))).toEqual([
      400,
      'ValidationError',
    ])
  })
}
