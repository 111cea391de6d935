import { expect, test } from 'vitest'
import { ServiceError } from '../../../../../src/service/model/errors.ts'
import { rejection } from '../../http/api.ts'
import { DONE, FIRST, JSON_ONLY, makeStreams, PATH } from '../../http/endpoints/stream-api.ts'

test.each([
  ['?format=html', {}],
  ['?startIndex=1', {}],
  ['?format=ui-message&startIndex=x', {}],
  ['?format=ui-message&wait=1s', JSON_ONLY],
])('UI messages: %s is rejected', async (parameters, headers) => {
  const { call, followed } = makeStreams()

  expect(await rejection(await call('GET', `${PATH}${parameters}`, undefined, headers))).toEqual([
    400,
    'ValidationError',
  ])
  expect(followed).toEqual([])
})

test('UI messages: the format wins over Accept, and has its own header and no ids', async () => {
  const { call, followed } = makeStreams([FIRST, DONE])

  const response = await call('GET', `${PATH}?format=ui-message&topic=chat`, undefined, JSON_ONLY)
  const text = await response.text()

  expect([response.headers.get('Content-Type'), response.headers.get('x-vercel-ai-ui-message-stream')]).toEqual([
    'text/event-stream',
    'v1',
  ])
  expect(text).toMatch(/data: \[DONE\]\n\n$/)
  expect(text).not.toMatch(/^(?:id|event):/m)
  expect(followed).toMatchObject([{ topics: ['chat'], from: 0 }])
})

test('UI messages: an error is a chunk, and is logged with its status', async () => {
  const { call, events } = makeStreams([FIRST, new ServiceError('WorkflowNotReadyError', 'poisoned')])

  const text = await (await call('GET', `${PATH}?format=ui-message`)).text()

  expect(text).toContain('{"type":"error","errorText":"poisoned"}')
  expect(events.at(-1)?.fields).toMatchObject({ error: 'WorkflowNotReadyError' })
})
