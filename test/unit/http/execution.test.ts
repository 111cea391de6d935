import { describe, expect, test } from 'vitest'
import type { Call } from '../../../src/domain/call.ts'
import type { Message } from '../../../src/domain/engine.ts'
import type { ExecutionRef, WorkflowResult } from '../../../src/domain/execution.ts'
import type { Workflows } from '../../../src/domain/workflows.ts'
import { createDrain } from '../../../src/http/drain.ts'
import { makeApi, refusal } from './api.ts'

const RUN_ID = '0198c0de-0000-7000-8000-00000000000a'

const result: WorkflowResult = {
  workflowId: 'w',
  runId: RUN_ID,
  status: 'completed',
  input: null,
  output: 1,
  trace: null,
  error: null,
  errorDetails: null,
}

/** Every verb on an execution, with what it was asked. */
function makeRunApi(overrides: Partial<Workflows> = {}) {
  const refs: ExecutionRef[] = []
  const messages: Message[] = []
  const reasons: (string | null)[] = []
  const api = makeApi({
    workflows: {
      status: async (ref) => {
        refs.push(ref)
        return { ...result, workflowName: 'greet', catalog: 'orders', startedAt: new Date(0), completedAt: null, historyLength: 3 }
      },
      result: async (ref) => {
        refs.push(ref)
        return result
      },
      trace: async (ref) => {
        refs.push(ref)
        const data = {
          id: 'w',
          kind: 'workflow',
          name: 'greet',
          startedAt: 0,
          endedAt: 1,
          input: null,
          output: 1,
          error: null,
          attributes: {},
          children: [],
        }
        return { source: 'history', runId: RUN_ID, complete: true, warnings: [], data }
      },
      signal: async (ref, message) => {
        refs.push(ref)
        messages.push(message)
        return { workflowId: ref.workflowId, runId: RUN_ID }
      },
      query: async (ref, message) => {
        refs.push(ref)
        messages.push(message)
        return message.args
      },
      update: async (ref, message) => {
        refs.push(ref)
        messages.push(message)
        return undefined
      },
      stop: async (ref, reason) => {
        refs.push(ref)
        reasons.push(reason)
        return { workflowId: 'w', runId: RUN_ID, cancelRequested: true, status: 'running' }
      },
      terminate: async (ref, reason) => {
        refs.push(ref)
        reasons.push(reason)
        return { workflowId: 'w', runId: RUN_ID }
      },
      catalog: async (catalog) => ({ catalog, workflows: [] }),
      ...overrides,
    },
  })
  return { ...api, refs, messages, reasons }
}

describe('execution', () => {
  test('execution: every endpoint acts on the latest run, or on the one that is pinned', async () => {
    const { call, refs } = makeRunApi()
    const endpoints = [
      ['GET', '/status'],
      ['GET', '/result'],
      ['GET', '/trace-log'],
      ['POST', '/signal/s'],
      ['POST', '/query/q'],
      ['POST', '/update/u'],
      ['PATCH', '/stop'],
      ['POST', '/terminate'],
    ] as const

    const statuses: number[] = []
    for (const [method, path] of endpoints) {
      statuses.push((await call(method, `/workflow/w${path}`)).status)
      statuses.push((await call(method, `/workflow/w/runs/${RUN_ID}${path}`)).status)
    }

    expect(statuses).toEqual(Array(16).fill(200))
    expect(refs).toEqual(endpoints.flatMap(() => [{ workflowId: 'w' }, { workflowId: 'w', runId: RUN_ID }]))
  })

  test('execution: ids are decoded once', async () => {
    const { call, refs } = makeRunApi()

    for (const id of ['a%2Fb', 'a%252Fb', 'a%20b+c', '%C3%A9', 'a%3Fb%23c', '%25zz']) await call('GET', `/workflow/${id}/status`)

    expect(refs.map((ref) => ref.workflowId)).toEqual(['a/b', 'a%2Fb', 'a b+c', 'é', 'a?b#c', '%zz'])
  })

  test('execution: malformed escapes are a 400', async () => {
    const { call, refs } = makeRunApi()

    for (const path of [
      '/workflow/%/status',
      '/workflow/%zz/status',
      '/workflow/%C3/status',
      '/workflow/%ED%A0%80/status',
      '/workflow/w/query/%E0%A4',
    ]) {
      const method = path.includes('query') ? 'POST' : 'GET'
      expect([path, ...(await refusal(await call(method, path)))]).toEqual([path, 400, 'ValidationError'])
    }
    expect(refs).toEqual([])
  })

  test('execution: reserved and oversized ids are a 400', async () => {
    const { call, refs } = makeRunApi()

    for (const id of [
      '%24catalog:orders',
      '__temporal_x',
      'catalog',
      'runs',
      'signal-with-start',
      'update-with-start',
      'a%00b',
      'x'.repeat(1001),
    ]) {
      const response = await call('POST', `/workflow/${id}/terminate`)
      const body = await response.json()
      expect([id, response.status, body.error, body.issues.length]).toEqual([id, 400, 'ValidationError', 1])
    }
    expect(refs).toEqual([])
    expect((await call('GET', `/workflow/${'x'.repeat(1000)}/status`)).status).toBe(200)
  })

  test('execution: names of Object.prototype are ids like any other', async () => {
    const { call, refs } = makeRunApi()

    await call('GET', '/workflow/__proto__/status')
    await call('GET', '/workflow/toString/status')

    expect(refs).toEqual([{ workflowId: '__proto__' }, { workflowId: 'toString' }])
  })

  test('execution: a run id is a UUID of any version, lower-cased', async () => {
    const { call, refs } = makeRunApi()

    await call('GET', `/workflow/w/runs/${RUN_ID.toUpperCase()}/status`)
    const bad = await call('GET', '/workflow/w/runs/17/status')

    expect(refs).toEqual([{ workflowId: 'w', runId: RUN_ID }])
    expect(await refusal(bad)).toEqual([400, 'ValidationError'])
  })

  test('execution: handler names that the engine keeps for itself are a 400', async () => {
    const { call } = makeRunApi()

    for (const name of ['__stack_trace', '__proto__', '%24x', 'x'.repeat(1001), 'a%00']) {
      expect([name, ...(await refusal(await call('POST', `/workflow/w/query/${name}`)))]).toEqual([name, 400, 'ValidationError'])
    }
    expect((await call('POST', '/workflow/w/query/toString')).status).toBe(200)
  })
})

describe('message', () => {
  test('message: payload is one argument, args are several, nothing is none', async () => {
    const { call, messages } = makeRunApi()

    for (const body of [
      { payload: { a: 1 } },
      { payload: null },
      { payload: [1, 2] },
      { args: [1, null, [2]] },
      { args: [] },
      {},
      undefined,
    ]) {
      await call('POST', '/workflow/w/signal/s', body)
    }

    expect(messages.map((message) => message.args)).toEqual([[{ a: 1 }], [null], [[1, 2]], [1, null, [2]], [], [], []])
  })

  test('message: payload and args together, null for args, and unknown keys are a 400', async () => {
    const { call, messages } = makeRunApi()

    for (const body of [{ payload: 1, args: [1] }, { args: null }, { args: { 0: 1 } }, { arg: 1 }, 'null', '[]']) {
      expect([body, ...(await refusal(await call('POST', '/workflow/w/update/u', body)))]).toEqual([body, 400, 'ValidationError'])
    }
    expect(messages).toEqual([])
  })

  test('message: exact numbers and __proto__ keys reach the workflow and come back', async () => {
    const { call } = makeRunApi()

    const response = await call('POST', '/workflow/w/query/q', '{"args":[9007199254740993,{"__proto__":{"x":0.1234567890123456789}}]}')

    expect(await response.text()).toBe('[9007199254740993,{"__proto__":{"x":0.1234567890123456789}}]')
  })

  test('signal: answers which run took it', async () => {
    const { call } = makeRunApi()

    expect(await (await call('POST', '/workflow/w/signal/approve')).json()).toEqual({
      workflowId: 'w',
      runId: RUN_ID,
      signal: 'approve',
      accepted: true,
    })
  })

  test('update: a handler that returns nothing answers null', async () => {
    const { call } = makeRunApi()

    const response = await call('POST', '/workflow/w/update/u')

    expect([response.headers.get('Content-Type'), await response.text()]).toEqual(['application/json', 'null'])
  })
})

describe('control', () => {
  test('stop and terminate: answer what was done, with the reason or without', async () => {
    const { call, reasons } = makeRunApi()

    const stopped = await call('PATCH', '/workflow/w/stop', { reason: 'too late' })
    const terminated = await call('POST', '/workflow/w/terminate')

    expect(await stopped.json()).toEqual({ workflowId: 'w', runId: RUN_ID, cancelRequested: true, status: 'running' })
    expect(await terminated.json()).toEqual({ workflowId: 'w', runId: RUN_ID, terminated: true })
    expect(reasons).toEqual(['too late', null])
  })

  test('stop: refuses a reason that the engine can’t carry', async () => {
    const { call } = makeRunApi()

    for (const reason of [null, 7, 'a\0', '\ud800']) {
      expect([reason, ...(await refusal(await call('PATCH', '/workflow/w/stop', { reason })))]).toEqual([reason, 400, 'ValidationError'])
    }
  })
})

describe('status', () => {
  test('status: instants are ISO 8601 in UTC, not yet is null', async () => {
    const { call } = makeRunApi()

    expect(await (await call('GET', '/workflow/w/status')).json()).toMatchObject({
      startedAt: '1970-01-01T00:00:00.000Z',
      completedAt: null,
    })
  })
})

describe('catalog', () => {
  test('catalog: is the default one unless another is named', async () => {
    const { call } = makeRunApi()

    expect(await (await call('GET', '/workflow/catalog')).json()).toEqual({ catalog: 'orders', workflows: [] })
    expect(await (await call('GET', '/workflow/catalog/a%2Fb')).json()).toEqual({ catalog: 'a/b', workflows: [] })
  })

  test('catalog: its route wins over an execution of that name', async () => {
    const { call } = makeRunApi()

    expect(await (await call('GET', '/workflow/catalog/status')).json()).toMatchObject({ catalog: 'status' })
  })

  test('catalog: refuses names that no task queue may have', async () => {
    const { call } = makeRunApi()

    expect(await refusal(await call('GET', '/workflow/catalog/%2F_sys%2Fx'))).toEqual([400, 'ValidationError'])
  })

  test('catalog: answers 304 to those who have it already', async () => {
    const { call } = makeRunApi()

    const first = await call('GET', '/workflow/catalog')
    const etag = first.headers.get('ETag') ?? ''
    const again = await call('GET', '/workflow/catalog', undefined, { 'If-None-Match': `"other", W/${etag}` })
    const other = await call('GET', '/workflow/catalog', undefined, { 'If-None-Match': '"other"' })

    expect([first.status, again.status, await again.text(), again.headers.get('ETag'), other.status]).toEqual([200, 304, '', etag, 200])
  })
})

describe('call', () => {
  /** Answers once its signal aborts, as a verb that waits does. */
  function waiting(calls: Call[]): Partial<Workflows> {
    return {
      result: (_ref, call) => {
        calls.push(call)
        return call.signal.aborted
          ? Promise.resolve(result)
          : new Promise((resolve) => call.signal.addEventListener('abort', () => resolve(result)))
      },
    }
  }

  test('call: must be answered within 5 s from when the handler begins', async () => {
    const calls: Call[] = []
    const { call } = makeRunApi({
      result: async (_ref, call) => {
        calls.push(call)
        return result
      },
    })

    const before = Date.now()
    await call('GET', '/workflow/w/result', undefined, { 'X-Request-Id': 'mine' })

    expect(calls[0]?.requestId).toBe('mine')
    expect(calls[0]?.deadlineAt).toBeGreaterThanOrEqual(before + 4500)
    expect(calls[0]?.deadlineAt).toBeLessThan(before + 5000)
  })

  test('call: ends when the client goes away, which is no fault', async () => {
    const calls: Call[] = []
    const { fetch, events } = makeRunApi(waiting(calls))
    const client = new AbortController()

    const answered = fetch(new Request('http://portico.test/workflow/w/result', { signal: client.signal }))
    await expect.poll(() => calls.length).toBe(1)
    client.abort()
    await answered

    expect(events).toMatchObject([{ level: 'info', fields: { status: 499, route: '/workflow/:id/result' } }])
  })

  test('call: ends when the server drains, and one that comes later does not wait at all', async () => {
    const calls: Call[] = []
    const drain = createDrain()
    const { call } = makeApi({ drain, workflows: waiting(calls) })

    const answered = call('GET', '/workflow/w/result')
    await expect.poll(() => calls.length).toBe(1)
    drain.abortAll()
    await answered
    const late = call('GET', '/workflow/w/result')
    await expect.poll(() => calls.length).toBe(2)

    expect(calls[1]?.signal.aborted).toBe(true)
    await late
  })

  test('call: a signal is let go of when its request is answered', async () => {
    const calls: Call[] = []
    const drain = createDrain()
    const { call } = makeApi({
      drain,
      workflows: {
        result: async (_ref, call) => {
          calls.push(call)
          return result
        },
      },
    })

    await call('GET', '/workflow/w/result')
    drain.abortAll()

    expect(calls[0]?.signal.aborted).toBe(false)
  })
})
