/** The AI SDK reads our frames from a server of its own, unmodified. */
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { expect, onTestFinished, test } from 'vitest'
import { chatTransport } from '../../../../../examples/chat-transport.ts'
import { until } from '../../../../../src/cli/dev/servers/until.ts'
import { uiMessageFrames, uiMessages } from '../../../../../src/service/fronts/chat/ui-messages.ts'
import type { FeedEvent } from '../../../../../src/service/model/stream.ts'
import { toBase64 } from '../../../../../src/shared/lib/base64.ts'
import type { Status } from '../../../../../src/shared/wire/execution.ts'
import { BEGINNING, openChat, REST, textsOf } from '../../../../support/chat.ts'

const RUN = { workflowId: 'chat-1', runId: '01a208f4-a730-742e-81e9-92b88320ed51' }

const HELLO = { type: 'text', text: 'Hello, Ada', state: 'done' }

const QUESTION: UIMessage = { id: 'q1', role: 'user', parts: [{ type: 'text', text: 'Who am I?' }] }

test('AI SDK: a reader that joins in the middle of an answer builds the whole message', async () => {
  const chat = await startChat()
  chat.publish(BEGINNING)

  const stream = await chat.reconnect()
  const read = messageOf(stream, () => {
    chat.publish(REST)
    chat.end('completed')
  })

  expect(await read).toMatchObject({ id: 'm1', role: 'assistant', parts: [{ type: 'step-start' }, HELLO] })
  expect(chat.requests).toEqual(['GET /workflow/chat-1/stream?format=ui-message&topic=chat'])
})

test('AI SDK: after the end of the run a reader gets the same message', async () => {
  const chat = await startChat()
  chat.publish(BEGINNING)
  chat.publish(REST)
  chat.end('completed')

  const first = await messageOf(await chat.reconnect())
  const second = await messageOf(await chat.reconnect())

  expect(first?.parts).toEqual([{ type: 'step-start' }, expect.objectContaining(HELLO)])
  expect(second).toEqual(first)
})

test('AI SDK: a message that is sent starts a run, whose answer is the response', async () => {
  const chat = await startChat()

  const stream = await chat.transport.sendMessages({
    trigger: 'submit-message',
    chatId: RUN.workflowId,
    messageId: undefined,
    messages: [QUESTION],
    abortSignal: undefined,
  })
  chat.publish([...BEGINNING, ...REST])
  chat.end('completed')

  expect((await messageOf(stream))?.parts.at(-1)).toMatchObject(HELLO)
  expect(chat.requests).toEqual([
    'POST /workflow/start {"workflowName":"answer","workflowId":"chat-1","input":{"messages":[' +
      '{"id":"q1","role":"user","parts":[{"type":"text","text":"Who am I?"}]}]}}',
    'GET /workflow/chat-1/stream?format=ui-message&topic=chat',
  ])
})

test('AI SDK: a chat without a run has nothing to resume', async () => {
  const chat = await startChat()

  expect(await chat.transport.reconnectToStream({ chatId: 'chat-2' })).toBeNull()
})

test('AI SDK: a run that fails is an error, and what it has published is kept', async () => {
  const chat = await startChat()
  chat.publish(BEGINNING)
  chat.end('failed')
  const errors: unknown[] = []

  const stream = await chat.reconnect()
  const message = await messageOf(stream, undefined, (error) => errors.push(error))

  expect(message?.parts.at(-1)).toMatchObject({ type: 'text', text: 'Hello' })
  expect(errors).toEqual([new Error('Workflow chat-1 failed')])
})

test('AI SDK: the parts of @temporalio/ai-sdk are a message with tools, once for all attempts of an activity', async () => {
  const chat = await startChat()
  chat.publish(
    [
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'r1', modelId: 'm' },
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'of an attempt that failed' },
      { type: 'stream-start', warnings: [] },
      { type: 'reasoning-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: 'It is a city.' },
      { type: 'reasoning-end', id: '0' },
      { type: 'tool-input-start', id: 't1', toolName: 'weather' },
      { type: 'tool-input-delta', id: 't1', delta: '{"city":"Oslo"}' },
      { type: 'tool-input-end', id: 't1' },
      { type: 'tool-call', toolCallId: 't1', toolName: 'weather', input: '{"city":"Oslo"}' },
      { type: 'finish', usage: {}, finishReason: { unified: 'tool-calls' } },
      { type: 'stream-start', warnings: [] },
      { type: 'text-start', id: '0' },
      { type: 'text-delta', id: '0', delta: 'Hello, Ada' },
      { type: 'text-end', id: '0' },
      { type: 'finish', usage: {}, finishReason: { unified: 'stop' } },
    ].map((part) => ({ encoding: 'binary/plain', data: toBase64(new TextEncoder().encode(JSON.stringify(part))) })),
  )
  chat.end('completed')

  expect((await messageOf(await chat.reconnect()))?.parts).toMatchObject([
    { type: 'step-start' },
    { type: 'reasoning', text: 'It is a city.', state: 'done' },
    { type: 'tool-weather', toolCallId: 't1', state: 'input-available', input: { city: 'Oslo' } },
    { type: 'step-start' },
    HELLO,
  ])
})

test('AI SDK: what it does not know does not disturb the message', async () => {
  const chat = await startChat()
  chat.publish([{ type: 'of-a-later-version' }, ...BEGINNING, { type: 'text-delta', id: 'lost', delta: 'a' }, ...REST])
  chat.end('completed')

  expect((await messageOf(await chat.reconnect()))?.parts).toEqual([
    { type: 'step-start' },
    expect.objectContaining(HELLO),
  ])
})

test('AI SDK: a page that is reloaded in the middle shows the answer once, and continues', async () => {
  const server = await startChat()
  const first = openChat({ id: RUN.workflowId, transport: server.transport })
  const sent = first.sendMessage({ text: 'Who am I?' })
  server.publish(BEGINNING)
  await until('the first page shows the beginning', () => textsOf(first)[1] === 'Hello')

  const reloaded = openChat({ id: RUN.workflowId, transport: server.transport, messages: first.messages })
  const resumed = reloaded.resumeStream()
  await until('the reloaded page reads the stream', () => server.requests.length === 3)
  server.publish(REST)
  server.end('completed')
  await Promise.all([sent, resumed])
  const late = openChat({ id: RUN.workflowId, transport: server.transport, messages: reloaded.messages })
  await late.resumeStream()

  for (const chat of [first, reloaded, late]) {
    expect([chat.status, chat.error, textsOf(chat)]).toEqual(['ready', undefined, ['Who am I?', 'Hello, Ada']])
  }
})

test('AI SDK: a chat shows that its run has failed', async () => {
  const server = await startChat()
  const chat = openChat({ id: RUN.workflowId, transport: server.transport })
  server.publish(BEGINNING)
  server.end('terminated')

  await chat.sendMessage({ text: 'Who am I?' })

  expect([chat.status, chat.error?.message]).toEqual(['error', 'Workflow chat-1 was terminated'])
  expect(textsOf(chat)).toEqual(['Who am I?', 'Hello'])
})

/** A run of `answer`, and a server that streams what it publishes. */
async function startChat() {
  const requests: string[] = []
  const events: FeedEvent[] = []
  let changed = Promise.withResolvers<void>()
  const add = (event: FeedEvent) => {
    events.push(event)
    changed.resolve()
    changed = Promise.withResolvers()
  }
  async function* follow(): AsyncGenerator<FeedEvent> {
    for (let at = 0; ; at++) {
      while (events[at] === undefined) await changed.promise
      const event = events[at]
      if (event !== undefined) yield event
      if (event?.type === 'done') return
    }
  }
  const stream = async (response: ServerResponse) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream', ...uiMessages.headers }).flushHeaders()
    for await (const frames of uiMessageFrames(follow(), { startIndex: 0, toErrorText: String })) response.write(frames)
    response.end()
  }
  const server = createServer(async (request, response) => {
    const body = await readText(request)
    requests.push(`${request.method} ${request.url} ${body}`.trimEnd())
    if (request.url === '/workflow/start') response.end(JSON.stringify(RUN))
    else if (request.url?.startsWith('/workflow/chat-1/stream?')) await stream(response)
    else response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const transport = chatTransport(url, 'answer')
  return {
    requests,
    transport,
    reconnect: () => transport.reconnectToStream({ chatId: RUN.workflowId }),
    publish(data: unknown[]) {
      const items = data.map((value, offset) => ({ offset, topic: 'chat', data: value }))
      add({ type: 'items', runId: RUN.runId, items, next: 0 })
    },
    end(status: Status) {
      add({ type: 'done', done: { ...RUN, status, completedAt: null, next: 0, complete: true } })
    },
  }
}

/** The last state of the message. Calls `onFirst` when there is a first one. */
async function messageOf(
  stream: ReadableStream<UIMessageChunk> | null,
  onFirst?: () => void,
  onError: (error: unknown) => void = (error) => expect.fail(`${error}`),
): Promise<UIMessage | undefined> {
  expect(stream).not.toBeNull()
  let message: UIMessage | undefined
  for await (const next of readUIMessageStream({ stream: stream ?? new ReadableStream(), onError })) {
    if (message === undefined) onFirst?.()
    message = next
  }
  return message
}
