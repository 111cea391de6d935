import { expect, test } from 'vitest'
import type { WorkflowResult } from '../../../src/domain/model/execution.ts'
import { makeApi, rejection } from './api.ts'
import { RUN_ID, result } from './run-api.ts'

/** `run` and `result` end in this way. */
function makeOutputApi(end: Partial<WorkflowResult> = {}) {
  const verbs: string[] = []
  const ended = (verb: string) => async () => {
    verbs.push(verb)
    return { ...result, ...end }
  }
  const api = makeApi({ workflows: { run: ended('run'), result: ended('result') } })
  const run = (query: string, headers?: Record<string, string>) =>
    api.call('POST', `/workflow/run?${query}`, { workflowName: 'greet', input: 1 }, headers)
  const get = (query: string, headers?: Record<string, string>) =>
    api.call('GET', `/workflow/w/result?${query}`, undefined, headers)
  return { ...api, verbs, run, get }
}

const idsOf = ({ headers }: Response) => [headers.get('Portico-Workflow-Id'), headers.get('Portico-Run-Id')]

test('body=output: the body is the output, and the headers have the ids', async () => {
  const { run, get } = makeOutputApi({ workflowId: 'ä b', output: { a: [1] } })

  const responses = [await run('body=output'), await get('body=output'), await get('body=output&wait=1')]

  expect(await Promise.all(responses.map((response) => response.json()))).toEqual(responses.map(() => ({ a: [1] })))
  expect(responses.map(idsOf)).toEqual(responses.map(() => ['%C3%A4%20b', RUN_ID]))
})

test('body=output: a workflow that returned nothing has the body null', async () => {
  const response = await makeOutputApi({ output: undefined }).run('body=output')

  expect([response.status, await response.text()]).toEqual([200, 'null'])
})

test('body=output: a workflow that did not complete is a 422 with its failure', async () => {
  const errorDetails = {
    message: 'no',
    name: 'CardDeclined',
    retryable: false,
    activityId: '2',
    details: [],
    cause: null,
  }
  const { run } = makeOutputApi({ status: 'failed', output: null, error: 'no', errorDetails })

  const response = await run('body=output')

  expect([response.status, ...idsOf(response)]).toEqual([422, null, null])
  expect(await response.json()).toMatchObject({
    error: 'WorkflowFailedError',
    message: 'Workflow w failed: no',
    source: 'workflow',
    workflowId: 'w',
    runId: RUN_ID,
    workflowStatus: 'failed',
    errorDetails,
  })
})

test.for<[Partial<WorkflowResult>, string]>([
  [{ status: 'failed', error: '' }, 'Workflow w failed'],
  [{ status: 'timed_out', error: 'too late' }, 'Workflow w timed out: too late'],
  [{ status: 'canceled', error: 'stop' }, 'Workflow w was canceled: stop'],
  [{ status: 'terminated', error: 'x' }, 'Workflow w was terminated: x'],
  [{ status: 'continued' }, 'Workflow w continued as a new run'],
])('body=output: %s reads as "%s"', async ([end, message]) => {
  const { get } = makeOutputApi({ output: null, ...end })

  expect((await (await get('body=output')).json()).message).toBe(message)
})

test('body=output: is rejected with an event stream, with another value, or repeated, before anything starts', async () => {
  const { run, get, verbs } = makeOutputApi()
  const events = { Accept: 'text/event-stream' }

  const rejected = [
    await run('body=output', events),
    await get('body=output', events),
    await run('body=result'),
    await get('body='),
    await run('body=output&body=output'),
    await run('body=output&x=1'),
    await get('body=output&x=1'),
  ]

  expect(await Promise.all(rejected.map(rejection))).toEqual(rejected.map(() => [400, 'ValidationError']))
  expect(verbs).toEqual([])
})

test('body=output: without it, run ignores the query', async () => {
  const response = await makeOutputApi().run('x=1')

  expect([response.status, await response.json(), ...idsOf(response)]).toEqual([200, result, null, null])
})
