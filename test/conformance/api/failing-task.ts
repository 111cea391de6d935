import { expect, inject, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import type { TraceNode } from '../../../src/shared/wire/trace/tree.ts'
import { eventsIn } from '../../support/event-stream.ts'
import { rule } from '../../support/rules.ts'
import { startWorker } from '../../support/worker.ts'
import { type ApiFixture, anId, pause, SLOW_WORKER, startDirectly, startMessages, untilStatus } from './api-fixture.ts'

const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

// The machine of a worker as its errors tell of it, the test's own included.
const MACHINE = /stackTrace|\bat \w+ \(|file:\/\/|\/work|\/srv|node_modules|\d+@[\w-]+|TypeScriptSDK|10\.0\.0\.3/

// On a busy machine an attempt may end so before the worker has reported a failure.
const TIMED_OUT = 'the worker did not complete the workflow task in time'

/** A run whose workflow task fails: every response about it gives the reason. */
export function failingTask(api: () => ApiFixture): void {
  const call = (method: string, path: string, body?: unknown, service: 'restrictedService' | 'service' = 'service') =>
    api()[service].call(method, `/workflow/${path}`, body)
  const post = (path: string, body?: unknown, service?: 'restrictedService' | 'service') =>
    call('POST', path, body, service)
  const end = (workflowId: string) => post(`${workflowId}/terminate`)

  async function untilFailing(workflowId: string, attempt = 2) {
    const path = `${workflowId}/status`
    const isSo = async () => {
      const { body } = await call('GET', path)
      return body.problem?.attempt >= attempt && body.problem.message !== TIMED_OUT ? body : null
    }
    return until(`attempt ${attempt} of its task is pending`, isSo)
  }

  async function taskNodes(workflowId: string): Promise<TraceNode[]> {
    const { body } = await call('GET', `${workflowId}/trace-log`)
    return body.data.children.filter(({ kind }: TraceNode) => kind === 'workflow_task')
  }

  rule('status.problem', async () => {
    const { body: started } = await post('start', {
      workflowName: 'nope',
      input: null,
      catalog: api().plainTaskQueue,
      taskTimeout: SLOW_WORKER,
    })
    const { workflowId } = started

    const status = await untilFailing(workflowId)
    const nodes = await taskNodes(workflowId)

    const message = "Failed to initialize workflow of type 'nope': no such function is exported by the workflow bundle"
    expect(status).toMatchObject({ status: 'running', workflowName: 'nope' })
    expect(status.problem).toEqual({
      kind: 'workflow_task_failing',
      attempt: expect.any(Number),
      since: INSTANT,
      message,
    })
    expect(nodes).toEqual([
      expect.objectContaining({
        name: 'unhandled failure',
        endedAt: null,
        error: { name: 'Error', message, cause: null },
        attributes: { attempts: expect.any(Number) },
      }),
    ])
    expect(nodes[0]?.attributes.attempts).toBeGreaterThanOrEqual(2)
    expect(JSON.stringify([status, nodes])).not.toMatch(MACHINE)
    await end(workflowId)
  })

  test('run: the 424 and its event give the reason, without details of the machine (threat 82)', async () => {
    const body = {
      workflowName: 'failTaskWithPath',
      input: null,
      catalog: api().plainTaskQueue,
      taskTimeout: SLOW_WORKER,
      timeout: 9000,
    }

    const [answer, told] = await Promise.all([
      post('run', body),
      api().service.post('run', body, { Accept: 'text/event-stream' }),
    ])

    const [started, timeout] = eventsIn(told.text)
    const expected = {
      status: 424,
      error: 'WorkflowExecutionTimedOutError',
      workflowStatus: 'running',
      message: expect.stringMatching(
        /and is still running; its workflow task is failing \(attempt \d\); the worker reported: can't read '<path>'/,
      ),
      problem: {
        kind: 'workflow_task_failing',
        attempt: expect.any(Number),
        since: INSTANT,
        message: "can't read '<path>' of <worker>: connect ECONNREFUSED <address>",
      },
    }
    expect(answer.body).toMatchObject(expected)
    expect(timeout).toMatchObject({ event: 'timeout', data: expected })
    expect(answer.text + told.text).not.toMatch(MACHINE)
    await Promise.all([answer.body.workflowId, started?.data.workflowId].map(end))
  })

  test('query and update: the 504 and the 424, and the 409 of later attempts, give the reason', async () => {
    const { workflowId, firstExecutionRunId: runId } = await startDirectly(api(), 'failTask', {
      workflowTaskTimeout: SLOW_WORKER,
    })
    const { workflowId: oftener } = await startDirectly(api(), 'failTask', { workflowTaskTimeout: '10s' })
    await untilFailing(workflowId)

    // A task that a worker has begun keeps a query waiting.
    const waiting = await Promise.all(
      ['query/state', 'update/set'].map((path) => post(`${workflowId}/${path}`, {}, 'restrictedService')),
    )
    await untilFailing(oftener, 3)
    const rejected = await Promise.all(['query/state', 'update/set'].map((path) => post(`${oftener}/${path}`)))

    const problem = { kind: 'workflow_task_failing', since: INSTANT, message: 'a bug in the workflow' }
    const message = (attempt: string) =>
      expect.stringMatching(
        `; its workflow task is failing \\(attempt ${attempt}\\); the worker reported: a bug in the workflow$`,
      )
    const late = {
      status: 504,
      error: 'DeadlineExceededError',
      workflowId,
      runId,
      message: message('2'),
      problem: { ...problem, attempt: 2 },
    }
    const notReady = {
      status: 409,
      error: 'WorkflowNotReadyError',
      workflowId: oftener,
      message: message('\\d+'),
      problem: { ...problem, attempt: expect.any(Number) },
    }
    expect(waiting.map(({ body }) => body)).toMatchObject([
      late,
      { ...late, status: 424, error: 'OutcomeUnknownError' },
    ])
    expect(rejected.map(({ body }) => body)).toMatchObject([notReady, notReady])
    for (const { text } of [...waiting, ...rejected]) expect(text).not.toMatch(MACHINE)
    await Promise.all([workflowId, oftener].map(end))
  })

  test('update-with-start: the 424 gives the reason', async () => {
    if (api().hasGap('update-with-start')) return
    const body = {
      workflowName: 'failTask',
      input: null,
      catalog: api().plainTaskQueue,
      workflowId: anId(),
      taskTimeout: SLOW_WORKER,
      payload: 1,
    }
    const { payload: _, ...start } = body
    await post('start', start)
    await untilFailing(body.workflowId)

    const { status, body: rejected } = await post('update-with-start/set', body, 'restrictedService')

    expect([409, 424]).toContain(status)
    expect(rejected).toMatchObject({ runId: expect.any(String), problem: { message: 'a bug in the workflow' } })
    await end(body.workflowId)
  })

  test('status: a run that a repaired worker continued has no problem, and its trace has the earlier one', async () => {
    const taskQueue = `repaired-${anId()}`
    const { address } = inject('engine')
    const broken = await startWorker({
      address,
      taskQueue,
      workflowsPath: new URL('../../../examples/workflows.ts', import.meta.url),
    })
    const { workflowId } = await startDirectly(api(), 'messages', { taskQueue, workflowTaskTimeout: '10s' })
    const before = await untilFailing(workflowId)
    await broken.stop()
    const repaired = await startWorker({ address, taskQueue })

    const after = await until('it goes on', async () => {
      const { body } = await call('GET', `${workflowId}/status`)
      return body.problem === null ? body : null
    })
    const nodes = await taskNodes(workflowId)
    await end(workflowId)
    await repaired.stop()

    expect(before.problem.message).toContain("workflow of type 'messages'")
    expect(after).toMatchObject({ status: 'running', problem: null })
    expect(nodes).toMatchObject([{ error: { message: before.problem.message }, endedAt: expect.any(Number) }])
    expect(nodes[0]?.attributes.attempts).toBeGreaterThanOrEqual(2)
  })

  test('status: a run that waits, a paused one and a closed one have no problem', async () => {
    const [{ workflowId: waiting }, { workflowId: paused }] = await Promise.all([
      startMessages(api()),
      startMessages(api()),
    ])
    await pause(api(), paused)
    await untilStatus(api(), paused, 'paused')
    const statusOf = async (workflowId: string) => (await call('GET', `${workflowId}/status`)).body

    const described = await Promise.all([waiting, paused].map(statusOf))
    await Promise.all([waiting, paused].map(end))

    expect(described.map(({ status, problem }) => [status, problem])).toEqual([
      ['running', null],
      ['paused', null],
    ])
    expect(await statusOf(waiting)).toMatchObject({ status: 'terminated', problem: null })
  })
}
