import { expect, test } from 'vitest'
import type { MessageCommand, StartCommand } from '../../../../../src/service/model/commands.ts'
import { makeApi } from '../api.ts'

const START = { workflowName: 'order', input: { amount: 250 } }

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

test('update-with-start: missing and unknown fields are a 400 that names them', async () => {
  const { commands, send } = makeUpdateApi()

  const bodies = [
    { workflowName: 'order', args: [1] },
    { ...START, startArgs: [1] },
    { ...START, payload: 1, args: [1] },
    { ...START, args: null },
    { ...START, runId: 'r' },
    undefined,
  ]
  const messages = await Promise.all(bodies.map(async (body) => (await (await send(body)).json()).message))

  expect(messages).toEqual([
    'The body must contain either input (one argument) or startArgs (an array with one element per argument)',
    'The body must contain either input (one argument) or startArgs (an array with one element per argument)',
    'The body must contain only one of payload, args and payloads',
    '/args must be an array, not null',
    '/runId is not a known field',
    expect.stringContaining('/workflowName is required'),
  ])
  expect(commands).toEqual([])
})
