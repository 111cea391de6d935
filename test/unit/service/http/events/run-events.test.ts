import { afterEach, expect, test, vi } from 'vitest'
import type { RunCommand } from '../../../../../src/service/model/commands.ts'
import { ServiceError, withoutRepeat } from '../../../../../src/service/model/errors.ts'
import type { WorkflowResult } from '../../../../../src/service/model/execution.ts'
import { makeApi } from '../api.ts'
import { result } from '../run-api.ts'

afterEach(() => void vi.useRealTimers())

const RUN = { workflowId: 'w', runId: 'r' }
const RESULT: WorkflowResult = { ...result, ...RUN }
const BODY = { workflowName: 'greet', input: null }
const EVENTS = { Accept: 'text/event-stream' }

/** A run that starts at once and ends when the test settles `ended`. */
function makeRun(options: Parameters<typeof makeApi>[0] = {}) {
  const ended = Promise.withResolvers<WorkflowResult>()
  const seen = { aborted: false }
  const run = async (command: RunCommand, { signal }: { signal: AbortSignal }) => {
    command.onStarted?.(RUN)
    signal.addEventListener('abort', () => {
      seen.aborted = true
      ended.reject(
        new ServiceError('WorkflowExecutionTimedOutError', 'did not complete', {
          details: { ...RUN, workflowStatus: 'running' },
        }),
      )
    })
    return ended.promise
  }
  const api = makeApi({ ...options, workflows: { run } })
  return { ...api, ended, seen, ask: () => api.call('POST', '/workflow/run', BODY, EVENTS) }
}

test('run as events: after an outage of the codec server a reader continues at the run, as without the start', async () => {
  const lastIdAfter = async (error: ServiceError) => {
    const { ask, ended } = makeRun()
    const response = await ask()
    ended.reject(withoutRepeat(error))
    return [...(await response.text()).matchAll(/^id: (.*)$/gm)].at(-1)?.[1]
  }
  const details = { ...RUN, mayHaveTakenEffect: true as const }

  expect(await lastIdAfter(new ServiceError('PayloadCodecError', 'down', { details }))).toBe('w/r')
  expect(await lastIdAfter(new ServiceError('NotSupportedError', 'no', { details }))).toBe('w/r@end')
})

test('run as events: an error after the start is an event with the ids; a bug has no details and is logged', async () => {
  const { ask, ended, events } = makeRun()

  const response = await ask()
  ended.reject(new Error('secret'))
  const text = await response.text()

  expect(text).toContain(
    'event: server_error\ndata: {"type":"https://github.com/portico/portico/blob/main/docs/errors.md#internalerror"',
  )
  expect(text).not.toContain('secret')
  await expect
    .poll(() => events)
    .toMatchObject([{ level: 'error', fields: { status: 500, cause: new Error('secret') } }])
})

test('run as events: an event that cannot be serialized ends the response and the request', async () => {
  const { ask, ended, events } = makeRun()
  const circle: unknown[] = []
  circle.push(circle)

  const response = await ask()
  ended.resolve({ ...RESULT, output: circle })
  await response.text()

  await expect.poll(() => events.length).toBe(1)
})
