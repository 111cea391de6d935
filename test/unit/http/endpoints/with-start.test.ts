import { expect, test } from 'vitest'
import type { MessageCommand, SignalWithStartCommand, StartCommand } from '../../../../src/domain/model/workflows.ts'
import { makeApi, rejecting, rejection } from '../api.ts'

const START = { workflowName: 'order', input: { amount: 250 } }
const COMMAND = { workflowName: 'order', args: [START.input], argumentPointer: '/input' }

function makeUpdateApi(result: unknown = 'done') {
  const commands: { command: StartCommand; message: MessageCommand }[] = []
  const { call } = makeApi({
    workflows: {
      updateWithStart: async ({ start, update }) => {
        commands.push({ command: start, message: update })
        return { workflowId: start.workflowId ?? 'made', runId: 'r', started: true, result }
      },
    },
  })
  return {
    commands,
    call,
    send: (body: unknown, name = 'set') => call('POST', `/workflow/update-with-start/${name}`, body),
  }
}

test('update-with-start: passes on start and update, and returns the run, the result and its Location', async () => {
  const { commands, send } = makeUpdateApi({ total: 3 })

  const response = await send({ ...START, workflowId: 'orders/17', catalog: 'c', payload: [1, null] }, 'add%2Fitem')

  expect([response.status, response.headers.get('Location')]).toEqual([200, '/workflow/orders%2F17/result'])
  expect(await response.json()).toEqual({ workflowId: 'orders/17', runId: 'r', started: true, result: { total: 3 } })
  expect(commands).toEqual([
    {
      command: { ...COMMAND, workflowId: 'orders/17', catalog: 'c' },
      message: { name: 'add/item', args: [[1, null]], argumentPointer: '/payload' },
    },
  ])
})

test('update-with-start: args are several arguments, no args and no payload mean no argument, and an empty result is null', async () => {
  const { commands, send } = makeUpdateApi(null)

  await send({ ...START, args: [1, null] })
  const response = await send({ ...START, input: null })

  expect(commands.map(({ command, message }) => [command.args, message.args])).toEqual([
    [[START.input], [1, null]],
    [[null], []],
  ])
  expect((await response.json()).result).toBeNull()
})

test('update-with-start: startArgs are the arguments of the workflow, apart from those of the handler', async () => {
  const { commands, send } = makeUpdateApi()

  await send({ workflowName: 'order', startArgs: [1, [2]], args: [3, 4] })
  await send({ workflowName: 'order', startArgs: [], payload: 5 })

  expect(commands.map(({ command, message }) => [command.args, command.argumentPointer, message.args])).toEqual([
    [[1, [2]], '/startArgs/0', [3, 4]],
    [[], '/input', [5]],
  ])
})

test('update-with-start: accepts the fields of start, the timeout without effect and taskQueue as deprecated', async () => {
  const { commands, send } = makeUpdateApi()

  const response = await send({ ...START, taskQueue: 'old', timeout: '5s' })
  const wrong = await send({ ...START, timeout: 0 })

  expect([response.status, response.headers.get('Deprecation')]).toEqual([200, '@1767225600'])
  expect(commands).toEqual([
    { command: { ...COMMAND, catalog: 'old' }, message: { name: 'set', args: [], argumentPointer: '/payload' } },
  ])
  expect(await rejection(wrong)).toEqual([400, 'ValidationError'])
})

test('update-with-start: missing and unknown fields are a 400 that names them', async () => {
  const { commands, send } = makeUpdateApi()

  const bodies = [
    { workflowName: 'order', args: [1] },
    { ...START, startArgs: [] },
    { ...START, payload: 1, args: [] },
    { ...START, args: null },
    { ...START, runId: 'r' },
    undefined,
  ]
  const messages = await Promise.all(bodies.map(async (body) => (await (await send(body)).json()).message))

  expect(messages).toEqual([
    'The body must contain either input (one argument) or startArgs (an array with one element per argument)',
    'The body must contain either input (one argument) or startArgs (an array with one element per argument)',
    'The body must not contain both payload and args',
    '/args must be an array, not null',
    '/runId is not a known field',
    expect.stringContaining('/workflowName is required'),
  ])
  expect(commands).toEqual([])
})

test('update-with-start: reserved handler names are a 400, other methods a 405', async () => {
  const { commands, send, call } = makeUpdateApi()

  expect(await rejection(await send(START, '__stack_trace'))).toEqual([400, 'ValidationError'])
  expect(await rejection(await send(START, '%24x'))).toEqual([400, 'ValidationError'])
  const other = await call('PUT', '/workflow/update-with-start/set')
  expect([...(await rejection(other)), other.headers.get('Allow')]).toEqual([405, 'MethodNotAllowedError', 'POST'])
  expect(commands).toEqual([])
})

test('signal-with-start: passes on start and signal, and returns the run and its Location', async () => {
  const commands: SignalWithStartCommand[] = []
  const { call } = makeApi({
    workflows: {
      signalWithStart: async (command) => {
        commands.push(command)
        return { workflowId: 'w', runId: 'r', started: false, warnings: [] }
      },
    },
  })
  const headers = { tenant: 7 }

  const response = await call('POST', '/workflow/signal-with-start/add%2Fitem', { ...START, payload: 1, headers })
  const fails = await call('POST', '/workflow/signal-with-start/add', { ...START, workflowIdConflictPolicy: 'fail' })

  expect([response.status, response.headers.get('Location')]).toEqual([200, '/workflow/w/result'])
  expect(await response.json()).toEqual({ workflowId: 'w', runId: 'r', started: false })
  expect(await rejection(fails)).toEqual([400, 'ValidationError'])
  const signal = { name: 'add/item', args: [1], argumentPointer: '/payload', headers }
  expect(commands).toEqual([{ start: { ...COMMAND, catalog: 'orders', options: { headers } }, signal }])
})

test('update-with-start: NotSupportedError is a 501', async () => {
  const { call } = makeApi({ workflows: { updateWithStart: rejecting('NotSupportedError', 'not there') } })

  expect(await rejection(await call('POST', '/workflow/update-with-start/set', START))).toEqual([
    501,
    'NotSupportedError',
  ])
})
